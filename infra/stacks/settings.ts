import type { Node } from 'constructs'

/** What differs from one environment to the next. */
export interface Settings {
  /** Stands behind the stacks' names; empty for the default environment. */
  readonly environment: string
  readonly account?: string
  readonly region?: string
  readonly jwtIssuer: string
  readonly jwtAudience: string
  /** Absent: a stand-in that charges nobody, which only a disposable environment can have. */
  readonly paymentProviderUrl?: string
  /** The secret in Secrets Manager that the payment provider signs its callbacks with. */
  readonly webhookSecretName: string
  /** The SNS topic that calls whoever is on call; without one alarms are seen on the dashboard only. */
  readonly alarmTopicArn?: string
  /** Whether the tables go with their stack, which is for environments in which nothing is at stake. */
  readonly disposable: boolean
}

/** Let the stacks be built before there is anything to name. */
const EXAMPLES = {
  jwtIssuer: 'https://issuer.example.com',
  jwtAudience: 'orders-api',
  paymentProviderUrl: 'https://payments.example.com',
  webhookSecretName: 'lambda-once/payment-webhook',
}

/**
 * Reads the context: `-c environment=dev` takes `environments.dev` of cdk.json; each setting can be given alone, too.
 *
 * @throws Error naming a setting that is not what it must be, with an example
 */
export function readSettings(node: Node): Settings {
  const environment = optionalText('environment', node.tryGetContext('environment'), 'dev') ?? ''
  const ofEnvironment = environment === '' ? {} : environmentOf(node, environment)
  const given = (name: string): unknown => node.tryGetContext(name) ?? Reflect.get(ofEnvironment, name)
  const text = (name: keyof typeof EXAMPLES): string =>
    optionalText(name, given(name), EXAMPLES[name]) ?? EXAMPLES[name]
  const account = optionalText('account', given('account'), '123456789012')
  const region = optionalText('region', given('region'), 'eu-central-1')
  const alarmTopicArn = optionalText(
    'alarmTopicArn',
    given('alarmTopicArn'),
    'arn:aws:sns:eu-central-1:123456789012:on-call',
  )
  const disposable = flag('disposable', given('disposable'))
  const standsIn = flag('standInProvider', given('standInProvider')) && given('paymentProviderUrl') === undefined
  if (standsIn && !disposable) {
    throw new Error(
      'Context standInProvider is true, and the environment is not disposable: it would charge nobody. Set paymentProviderUrl.',
    )
  }
  return {
    environment,
    ...(account !== undefined && { account }),
    ...(region !== undefined && { region }),
    ...(alarmTopicArn !== undefined && { alarmTopicArn }),
    jwtIssuer: text('jwtIssuer'),
    jwtAudience: text('jwtAudience'),
    ...(!standsIn && { paymentProviderUrl: text('paymentProviderUrl') }),
    webhookSecretName: text('webhookSecretName'),
    disposable,
  }
}

function environmentOf(node: Node, environment: string): object {
  const environments: unknown = node.tryGetContext('environments') ?? {}
  const found: unknown = Object(environments)[environment]
  if (typeof found === 'object' && found !== null) return found
  const names = Object.keys(Object(environments))
  throw new Error(
    `Context environment is "${environment}", and cdk.json has only: ${names.join(', ') || 'none'}. Add it to context.environments.`,
  )
}

function optionalText(name: string, value: unknown, example: string): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value
  throw new Error(`Context ${name} must be a non-empty string, such as "${example}"; got ${JSON.stringify(value)}.`)
}

function flag(name: string, value: unknown): boolean {
  if (value === undefined || value === false || value === 'false') return false
  if (value === true || value === 'true') return true
  throw new Error(`Context ${name} must be true or false; got ${JSON.stringify(value)}.`)
}
