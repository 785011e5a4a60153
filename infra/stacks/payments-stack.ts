import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib'
import { HttpApi, HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers'
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations'
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { DEAD_LETTER_RETENTION, OPERATION_RETENTION, QUEUE_RETENTION } from './redelivery.ts'
import { serviceFunction } from './service-function.ts'

/** Properties of {@link PaymentsStack}. */
export interface PaymentsStackProps extends StackProps {
  readonly idempotencyTable: TableV2
  readonly ordersTable: TableV2
  /** The identity provider whose tokens the API takes, as its tokens' `iss` names it. */
  readonly jwtIssuer: string
  readonly jwtAudience: string
  readonly paymentProviderUrl: string
}

/** Everything `dynamoStore` does with its table. */
const STORE_ACTIONS: readonly string[] = [
  'dynamodb:GetItem',
  'dynamodb:PutItem',
  'dynamodb:UpdateItem',
  'dynamodb:BatchGetItem',
]

const WORKER_TIMEOUT = Duration.seconds(5)
const API_TIMEOUT = Duration.seconds(10)
/** Lambda's advice for a queue that feeds a function; less, and a message comes again while it is being worked on. */
const VISIBILITY_PER_TIMEOUT = 6
const MAX_RECEIVE_COUNT = 5
const BATCH_SIZE = 10

const GUARDED = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true } satisfies QueueProps

/** Orders come in over HTTP and are charged from a queue; both sides are safe to repeat. */
export class PaymentsStack extends Stack {
  constructor(scope: Construct, id: string, props: PaymentsStackProps) {
    super(scope, id, props)

    const deadLetters = new Queue(this, 'PaymentsDeadLetters', { ...GUARDED, retentionPeriod: DEAD_LETTER_RETENTION })
    const payments = new Queue(this, 'Payments', {
      ...GUARDED,
      visibilityTimeout: Duration.seconds(VISIBILITY_PER_TIMEOUT * WORKER_TIMEOUT.toSeconds()),
      retentionPeriod: QUEUE_RETENTION,
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: MAX_RECEIVE_COUNT },
    })

    const idempotencyEnvironment = {
      IDEMPOTENCY_TABLE: props.idempotencyTable.tableName,
      RETENTION_SECONDS: String(OPERATION_RETENTION.toSeconds()),
    }
    const ordersApi = serviceFunction(this, 'OrdersApi', {
      source: 'orders-api.ts',
      description: 'POST /orders: takes an order once per idempotency key and hands it to the payments queue.',
      timeout: API_TIMEOUT,
      environment: {
        ...idempotencyEnvironment,
        ORDERS_TABLE: props.ordersTable.tableName,
        PAYMENTS_QUEUE_URL: payments.queueUrl,
      },
    })
    const paymentsWorker = serviceFunction(this, 'PaymentsWorker', {
      source: 'payments-worker.ts',
      description: 'Charges each order of the payments queue once at the payment provider.',
      timeout: WORKER_TIMEOUT,
      environment: { ...idempotencyEnvironment, PAYMENT_PROVIDER_URL: props.paymentProviderUrl },
    })

    props.idempotencyTable.grants.actions(ordersApi, ...STORE_ACTIONS)
    props.idempotencyTable.grants.actions(paymentsWorker, ...STORE_ACTIONS)
    props.ordersTable.grants.actions(ordersApi, 'dynamodb:PutItem')
    payments.grants.actions(ordersApi, ['sqs:SendMessage'])
    paymentsWorker.addEventSource(
      new SqsEventSource(payments, { batchSize: BATCH_SIZE, reportBatchItemFailures: true }),
    )

    const api = this.ordersHttpApi(ordersApi, props)
    new CfnOutput(this, 'ApiUrl', { value: api.apiEndpoint, description: 'POST /orders is here.' })
    new CfnOutput(this, 'PaymentsQueueUrl', { value: payments.queueUrl, description: 'Orders to be charged.' })
    new CfnOutput(this, 'PaymentsDeadLettersUrl', {
      value: deadLetters.queueUrl,
      description: 'Orders that could not be charged.',
    })
  }

  private ordersHttpApi(handler: IFunction, { jwtIssuer, jwtAudience }: PaymentsStackProps): HttpApi {
    const api = new HttpApi(this, 'Api', { description: 'Takes orders, once per idempotency key.' })
    api.addRoutes({
      path: '/orders',
      methods: [HttpMethod.POST],
      integration: new HttpLambdaIntegration('Orders', handler),
      // The verified caller is part of an operation's scope: nobody can replay another one's answer.
      authorizer: new HttpJwtAuthorizer('Callers', jwtIssuer, { jwtAudience: [jwtAudience] }),
    })
    return api
  }
}
