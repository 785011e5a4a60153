import { fileURLToPath } from 'node:url'
import { CfnOutput, Duration, SecretValue, Stack, type StackProps } from 'aws-cdk-lib'
import { HttpNoneAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { Topic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'
import {
  IdempotencyDashboard,
  type IdempotencyTable,
  IdempotentApi,
  IdempotentFunction,
  IdempotentQueue,
  OutboxRelay,
  Reconciler,
} from '../constructs/index.ts'
import { PaymentProviderStandIn } from './payment-provider-stand-in.ts'

/** Properties of {@link PaymentsStack}. */
export interface PaymentsStackProps extends StackProps {
  readonly idempotencyTable: IdempotencyTable
  readonly ordersTable: TableV2
  readonly ledgerTable: TableV2
  readonly balancesTable: TableV2
  /** The identity provider whose tokens the API takes, as its tokens' `iss` names it. */
  readonly jwtIssuer: string
  readonly jwtAudience: string
  /**
   * Where orders are charged, without a slash at its end.
   * @default - a stand-in that charges nobody
   */
  readonly paymentProviderUrl?: string
  /** The secret in Secrets Manager that the payment provider signs its callbacks with. */
  readonly webhookSecretName: string
  /**
   * The SNS topic that calls whoever is on call.
   * @default - none: alarms are seen on the dashboard only
   */
  readonly alarmTopicArn?: string
}

const WORKER_TIMEOUT = Duration.seconds(5)
const API_TIMEOUT = Duration.seconds(10)
const RECONCILER_PERIOD = Duration.minutes(1)
/** Enough for some thousand operations a second. Only ever raised: what lies in the others would not be found. */
const RECONCILER_SHARDS = 4

/** A sender loads these when it has something for them, which is rare or never. The runtime has them, too: no cold start need read them. */
const RARELY_LOADED = ['@aws-sdk/client-lambda', '@aws-sdk/client-sns', '@aws-sdk/client-eventbridge']

/** Orders come in over HTTP, are charged from a queue and booked; all of it is safe to repeat, and nothing stays behind. */
export class PaymentsStack extends Stack {
  constructor(scope: Construct, id: string, props: PaymentsStackProps) {
    super(scope, id, props)
    const { idempotencyTable: table, ordersTable, ledgerTable, balancesTable } = props
    const common = { RECONCILER_SHARDS: String(RECONCILER_SHARDS) }

    const ledgerWorker = new IdempotentFunction(this, 'LedgerWorker', {
      entry: source('ledger-worker.ts'),
      description: 'Keeps the balance of each account; an update that comes late changes nothing.',
      timeout: WORKER_TIMEOUT,
      environment: { ...common, BALANCES_TABLE: balancesTable.tableName },
      table,
    })
    balancesTable.grants.actions(ledgerWorker, 'dynamodb:PutItem')
    const paidOrders = new IdempotentQueue(this, 'PaidOrders', { consumer: ledgerWorker, fifo: true })

    const paymentsWorker = new IdempotentFunction(this, 'PaymentsWorker', {
      entry: source('payments-worker.ts'),
      description: 'Charges each order of the payments queue once at the payment provider, and books it once.',
      timeout: WORKER_TIMEOUT,
      environment: {
        ...common,
        PAYMENT_PROVIDER_URL: props.paymentProviderUrl ?? new PaymentProviderStandIn(this, 'PaymentProvider').url,
        ORDERS_TABLE: ordersTable.tableName,
        LEDGER_TABLE: ledgerTable.tableName,
        ORDER_PAID_QUEUE_URL: paidOrders.queue.queueUrl,
      },
      table,
    })
    ordersTable.grants.actions(paymentsWorker, 'dynamodb:UpdateItem')
    ledgerTable.grants.actions(paymentsWorker, 'dynamodb:PutItem', 'dynamodb:Query')
    const payments = new IdempotentQueue(this, 'Payments', { consumer: paymentsWorker })
    // It sends nothing there itself: the relay does.
    paymentsWorker.function.addEnvironment('PAYMENTS_QUEUE_URL', payments.queue.queueUrl)

    const ordersApi = new IdempotentFunction(this, 'OrdersApi', {
      entry: source('orders-api.ts'),
      description: 'POST /orders: takes an order once per idempotency key and hands it to the payments queue.',
      timeout: API_TIMEOUT,
      environment: {
        ...common,
        ORDERS_TABLE: ordersTable.tableName,
        PAYMENTS_QUEUE_URL: payments.queue.queueUrl,
      },
      table,
    })
    ordersTable.grants.actions(ordersApi, 'dynamodb:PutItem', 'dynamodb:UpdateItem')
    payments.grantSendMessages(ordersApi)

    const paymentWebhook = new IdempotentFunction(this, 'PaymentWebhook', {
      entry: source('payment-webhook.ts'),
      description: 'POST /webhooks/payments: wakes the payment that waits for what the provider says.',
      timeout: WORKER_TIMEOUT,
      environment: {
        ...common,
        // Resolved while CloudFormation deploys: it is in no template.
        PAYMENT_WEBHOOK_SECRET: SecretValue.secretsManager(props.webhookSecretName).unsafeUnwrap(),
      },
      table,
    })

    const relay = new OutboxRelay(this, 'OutboxRelay', {
      table,
      entry: source('outbox-relay.ts'),
      functionProps: {
        description: 'Sends the messages that commits have written.',
        bundling: { externalModules: RARELY_LOADED },
      },
      targets: [{ queue: payments }, { queue: paidOrders }],
    })
    const reconciler = new Reconciler(this, 'Reconciler', {
      table,
      entry: source('reconciler.ts'),
      functionProps: {
        description: 'Finishes what no delivery will: orders whose client never came back, messages left behind.',
        environment: common,
        bundling: { externalModules: RARELY_LOADED },
      },
      period: RECONCILER_PERIOD,
      targets: [{ queue: payments }, { queue: paidOrders }, { function: ordersApi.function }],
    })

    const api = new IdempotentApi(this, 'Api', {
      description: 'Takes orders, once per idempotency key, and what the payment provider says.',
      // The verified caller is part of an operation's scope: nobody can replay another one's answer.
      authorizer: new HttpJwtAuthorizer('Callers', props.jwtIssuer, { jwtAudience: [props.jwtAudience] }),
    })
    api.addRoute({ path: '/orders', handler: ordersApi })
    // The provider has no token: it signs what it sends, and the function checks that before anything else.
    api.addRoute({ path: '/webhooks/payments', handler: paymentWebhook, authorizer: new HttpNoneAuthorizer() })

    const { dashboard } = new IdempotencyDashboard(this, 'Watch', {
      table,
      namespaces: ['orders', 'payments', 'payment-events', 'balances'],
      queues: [payments, paidOrders],
      functions: [ordersApi, paymentsWorker, paymentWebhook, ledgerWorker],
      api,
      relay,
      reconciler,
      ...(props.alarmTopicArn && {
        alarmActions: [new SnsAction(Topic.fromTopicArn(this, 'AlarmTopic', props.alarmTopicArn))],
      }),
    })

    new CfnOutput(this, 'ApiUrl', { value: api.url, description: 'POST /orders and /webhooks/payments are here.' })
    new CfnOutput(this, 'PaymentsQueueUrl', { value: payments.queue.queueUrl, description: 'Orders to be charged.' })
    new CfnOutput(this, 'PaymentsDeadLettersUrl', {
      value: payments.deadLetterQueue?.queueUrl ?? '',
      description: 'Orders that could not be charged.',
    })
    new CfnOutput(this, 'PaymentsWorkerLogs', {
      value: paymentsWorker.function.logGroup.logGroupName,
      description: 'One line per event of an operation.',
    })
    new CfnOutput(this, 'DashboardName', { value: dashboard.dashboardName, description: 'Look here first.' })
  }
}

function source(file: string): string {
  return fileURLToPath(new URL(`../../functions/${file}`, import.meta.url))
}
