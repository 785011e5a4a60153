import { isLambdaOnceError } from '../base/errors.ts'
import { CliFailure, EXIT } from './exit.ts'

/** Where the failed call went to, for a message that says what to look at. */
export interface Destination {
  readonly tableName: string
  readonly endpoint: string | undefined
}

const CREDENTIALS: readonly string[] = [
  'CredentialsProviderError',
  'TokenProviderError',
  'UnrecognizedClientException',
  'ExpiredTokenException',
  'ExpiredToken',
  'InvalidSignatureException',
  'IncompleteSignatureException',
  'InvalidClientTokenId',
  'MissingAuthenticationTokenException',
]
const NETWORK: readonly string[] = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'TimeoutError',
  'NetworkingError',
]
const BUSY: readonly string[] = [
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'InternalServerError',
  'ServiceUnavailable',
  'InternalFailure',
]

/** Whatever was thrown, as a sentence that says what to do. */
export function explain(error: unknown, { tableName, endpoint }: Destination): CliFailure {
  if (error instanceof CliFailure) return error
  const chain = causesOf(error)
  const names = chain.flatMap(({ name, code }) => [name, ...(code === undefined ? [] : [code])])
  const last = chain.at(-1)?.message ?? String(error)
  const message = chain[0]?.message ?? String(error)
  const at = endpoint === undefined ? 'DynamoDB' : `DynamoDB at ${endpoint}`
  const fail = (exitCode: CliFailure['exitCode'], text: string) => new CliFailure(exitCode, text, { cause: error })
  const isOneOf = (known: readonly string[]) => names.some((name) => known.includes(name))

  if (isOneOf(['ResourceNotFoundException', 'TableNotFoundException'])) {
    return fail(
      EXIT.table,
      `There is no table "${tableName}" there. Check --table, --region and the account of your credentials.`,
    )
  }
  if (isOneOf(['AccessDeniedException', 'AccessDenied'])) {
    return fail(
      EXIT.permission,
      `Your credentials may not do this: ${last} Ask for that action on the table; docs/cli.md lists what each command needs.`,
    )
  }
  if (isOneOf(CREDENTIALS)) {
    return fail(
      EXIT.permission,
      `AWS does not accept your credentials, or there are none (${last}). Set AWS_PROFILE, log in again, or name the local engine with --endpoint.`,
    )
  }
  if (/region is missing/i.test(last)) {
    return fail(EXIT.usage, 'No region is known. Say --region, or set AWS_REGION.')
  }
  if (isOneOf(NETWORK)) {
    return fail(
      EXIT.unreachable,
      `${at} does not answer (${names.find((name) => NETWORK.includes(name))}). Is it running, and is the network up? Check ${endpoint === undefined ? '--region' : '--endpoint'}.`,
    )
  }
  if (isOneOf(BUSY))
    return fail(EXIT.unreachable, `${at} is busy (${last}). Nothing is wrong with the command: repeat it.`)
  if (chain.some(({ message: text }) => /deserializ|Unexpected token|not valid JSON|is not an object/i.test(text))) {
    return fail(EXIT.unreachable, `What answers at ${endpoint ?? 'the endpoint'} is not DynamoDB. Check --endpoint.`)
  }
  if (isOneOf(['ValidationException']) && !isLambdaOnceError(error, 'INVALID_INPUT')) {
    return fail(
      EXIT.table,
      `The table "${tableName}" does not take this (${last}). It is probably not a table of lambda-once: \`lambda-once doctor\` says what is missing.`,
    )
  }
  if (isLambdaOnceError(error)) {
    switch (error.code) {
      case 'OUTCOME_LOST':
        return fail(EXIT.lost, message)
      case 'MISSING_KEY':
      case 'INVALID_KEY':
      case 'INVALID_OPTION':
      case 'INVALID_INPUT':
      case 'OUTCOME_UNSTORABLE':
        return fail(EXIT.usage, message)
      case 'STORE':
        return fail(error.retryable ? EXIT.unreachable : EXIT.table, message)
      default:
        return fail(EXIT.refused, message)
    }
  }
  return fail(EXIT.unexpected, `This should not have happened: ${names[0] ?? 'Error'}: ${message}`)
}

interface Cause {
  readonly name: string
  readonly code: string | undefined
  readonly message: string
}

/** The error and what it came from, outermost first: the SDK's own error tells more than what wraps it. */
function causesOf(error: unknown): readonly Cause[] {
  const chain: Cause[] = []
  for (let next: unknown = error; next instanceof Error && chain.length < 8; next = nextOf(next)) {
    const code: unknown = Reflect.get(next, 'code')
    chain.push({ name: next.name, code: typeof code === 'string' ? code : undefined, message: next.message })
  }
  return chain
}

/** A connection that is tried over IPv4 and IPv6 fails with both errors in one, and without a message of its own. */
function nextOf(error: Error): unknown {
  return error instanceof AggregateError ? error.errors[0] : error.cause
}
