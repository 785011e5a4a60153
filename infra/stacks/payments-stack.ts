import { fileURLToPath } from 'node:url'
import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib'
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
} from '../constructs/index.ts'

/** Properties of {@link PaymentsStack}. */
export interface PaymentsStackProps extends StackProps {
  readonly idempotencyTable: IdempotencyTable
  readonly ordersTable: TableV2
  /** The identity provider whose tokens the API takes, as its tokens' `iss` names it. */
  readonly jwtIssuer: string
  readonly jwtAudience: string
  readonly paymentProviderUrl: string
  /**
   * The SNS topic that calls whoever is on call.
   * @default - none: alarms are seen on the dashboard only
   */
  readonly alarmTopicArn?: string
}

const WORKER_TIMEOUT = Duration.seconds(5)
const API_TIMEOUT = Duration.seconds(10)

/** Orders come in over HTTP and are charged from a queue; both sides are safe to repeat. */
export class PaymentsStack extends Stack {
  constructor(scope: Construct, id: string, props: PaymentsStackProps) {
    super(scope, id, props)
    const { idempotencyTable: table, ordersTable, jwtIssuer, jwtAudience } = props

    const paymentsWorker = new IdempotentFunction(this, 'PaymentsWorker', {
      entry: source('payments-worker.ts'),
      description: 'Charges each order of the payments queue once at the payment provider.',
      timeout: WORKER_TIMEOUT,
      environment: { PAYMENT_PROVIDER_URL: props.paymentProviderUrl },
      table,
    })
    const payments = new IdempotentQueue(this, 'Payments', { consumer: paymentsWorker })

    const ordersApi = new IdempotentFunction(this, 'OrdersApi', {
      entry: source('orders-api.ts'),
      description: 'POST /orders: takes an order once per idempotency key and hands it to the payments queue.',
      timeout: API_TIMEOUT,
      environment: { ORDERS_TABLE: ordersTable.tableName, PAYMENTS_QUEUE_URL: payments.queue.queueUrl },
      table,
    })
    ordersTable.grants.actions(ordersApi, 'dynamodb:PutItem')
    payments.grantSendMessages(ordersApi)

    const api = new IdempotentApi(this, 'Api', {
      description: 'Takes orders, once per idempotency key.',
      // The verified caller is part of an operation's scope: nobody can replay another one's answer.
      authorizer: new HttpJwtAuthorizer('Callers', jwtIssuer, { jwtAudience: [jwtAudience] }),
    })
    api.addRoute({ path: '/orders', handler: ordersApi })

    const { dashboard } = new IdempotencyDashboard(this, 'Watch', {
      table,
      namespaces: ['orders', 'payments'],
      queues: [payments],
      functions: [ordersApi, paymentsWorker],
      api,
      ...(props.alarmTopicArn && {
        alarmActions: [new SnsAction(Topic.fromTopicArn(this, 'AlarmTopic', props.alarmTopicArn))],
      }),
    })

    new CfnOutput(this, 'ApiUrl', { value: api.url, description: 'POST /orders is here.' })
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
