import { Fn } from 'aws-cdk-lib'
import { Code, FunctionUrlAuthType, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'

/** The same charge for the same order, whatever comes again; a charge that was never heard of was not made. */
const SOURCE = `
const { createHash } = require('node:crypto')
const json = (statusCode, body) => ({ statusCode, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
exports.handler = async ({ rawPath, requestContext: { http }, body = '{}', isBase64Encoded }) => {
  if (rawPath !== '/charges') return json(404, { error: 'There are charges only.' })
  if (http.method !== 'POST') return json(200, { charges: [] })
  const { orderId } = JSON.parse(isBase64Encoded ? Buffer.from(body, 'base64').toString() : body)
  return json(201, { chargeId: 'ch_' + createHash('sha256').update(String(orderId)).digest('hex').slice(0, 12) })
}
`

/** Answers in the place of a payment provider, to try the service out. It charges nobody, and asks nobody who they are. */
export class PaymentProviderStandIn extends Construct {
  /** Without a slash at its end. */
  readonly url: string

  constructor(scope: Construct, id: string) {
    super(scope, id)
    const fn = new LambdaFunction(this, 'Default', {
      description: 'Stands in for the payment provider: charges nobody.',
      runtime: Runtime.NODEJS_24_X,
      handler: 'index.handler',
      code: Code.fromInline(SOURCE),
    })
    const { url } = fn.addFunctionUrl({ authType: FunctionUrlAuthType.NONE })
    this.url = Fn.join('', ['https://', Fn.select(2, Fn.split('/', url))])
  }
}
