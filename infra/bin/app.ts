import { App, Tags } from 'aws-cdk-lib'
import { IdempotencyDataStack } from '../stacks/data-stack.ts'
import { PaymentsStack } from '../stacks/payments-stack.ts'

const app = new App()

/** A setting from `-c name=value` or cdk.json; the examples let the stacks be built before there is anything to name. */
function setting(name: string, example: string): string {
  const value: unknown = app.node.tryGetContext(name) ?? example
  if (typeof value === 'string' && value !== '') return value
  throw new Error(`Context ${name} must be a non-empty string, such as "${example}"; got ${JSON.stringify(value)}.`)
}

const data = new IdempotencyDataStack(app, 'LambdaOnceData', {
  description: 'lambda-once sample: the idempotency table and the orders.',
  terminationProtection: true,
})
new PaymentsStack(app, 'LambdaOncePayments', {
  description: 'lambda-once sample: an orders API and a payments worker that are safe to run more than once.',
  idempotencyTable: data.idempotencyTable,
  ordersTable: data.ordersTable,
  jwtIssuer: setting('jwtIssuer', 'https://issuer.example.com'),
  jwtAudience: setting('jwtAudience', 'orders-api'),
  paymentProviderUrl: setting('paymentProviderUrl', 'https://payments.example.com'),
})
Tags.of(app).add('service', 'lambda-once-sample')
