import { type App, RemovalPolicy, Tags } from 'aws-cdk-lib'
import { IdempotencyDataStack } from './data-stack.ts'
import { PaymentsStack } from './payments-stack.ts'
import type { Settings } from './settings.ts'

/** The stacks of the sample service in one environment. */
export interface SampleService {
  readonly data: IdempotencyDataStack
  readonly payments: PaymentsStack
}

/** Adds the sample service to an app: what is kept, and what is deployed anew with every version. */
export function addSampleService(app: App, settings: Settings): SampleService {
  const { environment, account, region, disposable } = settings
  const named = (name: string) => (environment === '' ? name : `${name}-${environment}`)
  const env = { ...(account !== undefined && { account }), ...(region !== undefined && { region }) }
  const data = new IdempotencyDataStack(app, named('LambdaOnceData'), {
    description: 'lambda-once sample: the idempotency table, the orders and the books.',
    env,
    terminationProtection: !disposable,
    deletionProtection: !disposable,
    removalPolicy: disposable ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
  })
  const payments = new PaymentsStack(app, named('LambdaOncePayments'), {
    description: 'lambda-once sample: orders, payments and their books, safe to run more than once.',
    env,
    idempotencyTable: data.idempotencyTable,
    ordersTable: data.ordersTable,
    ledgerTable: data.ledgerTable,
    balancesTable: data.balancesTable,
    jwtIssuer: settings.jwtIssuer,
    jwtAudience: settings.jwtAudience,
    ...(settings.paymentProviderUrl !== undefined && { paymentProviderUrl: settings.paymentProviderUrl }),
    webhookSecretName: settings.webhookSecretName,
    ...(settings.alarmTopicArn !== undefined && { alarmTopicArn: settings.alarmTopicArn }),
  })
  Tags.of(app).add('service', 'lambda-once-sample')
  return { data, payments }
}
