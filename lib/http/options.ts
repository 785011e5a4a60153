import type { ALBEvent, APIGatewayProxyEvent, APIGatewayProxyEventV2, Context } from 'aws-lambda'
import { InvalidOptionError } from '../base/errors.ts'
import { booleanOption, functionOption, oneOf, refuseUnknown, show } from '../base/guards.ts'
import type { Engine } from '../engine/engine.ts'
import type { Idempotency } from '../idempotency/api.ts'
import { engineOf } from '../idempotency/idempotency.ts'
import type { Operation } from '../operation/operation.ts'
import type { KeyInput, Scope } from '../record/identity.ts'
import { headerMatcher } from './answer/headers.ts'
import type { InnerForm } from './answer/inner.ts'
import type { StoredResponse } from './answer/replay.ts'
import type { HttpAnswer } from './answer/wire.ts'

/** The events served. Function URLs send the format of HTTP APIs. */
export type HttpEvent = APIGatewayProxyEvent | APIGatewayProxyEventV2 | ALBEvent

/** Lambda's context, and the operation that the handler is executing. */
export type OperationContext = Context & {
  /**
   * The running operation. A request that needs no protection (its method is not listed, or its key is optional and
   * missing) is an operation of its own that nothing is stored of; its key is random.
   */
  readonly operation: Operation
}

/** Options of `idempotentHttp` and `idempotent`. */
export interface IdempotentHttpOptions<E = HttpEvent> {
  /** Made by `createIdempotency`. */
  readonly idempotency: Idempotency
  /**
   * Name of the request header that carries the key.
   * @defaultValue 'Idempotency-Key'
   */
  readonly header?: string
  /**
   * Finds the key elsewhere than in that header: a selector of `lambda-once/keys`, such as `githubDeliveryId()`, or a
   * function of your own. Where it gives nothing, the key is missing; an `InvalidKeyError` it throws is answered with 400.
   * @defaultValue the header
   */
  readonly keyFrom?: (event: E, context: Context) => KeyInput
  /**
   * Whether a request without a key is refused with 400 (`required`) or runs unprotected (`optional`).
   * @defaultValue 'required'
   */
  readonly key?: 'required' | 'optional'
  /**
   * Methods that are protected; requests with others pass untouched.
   * @defaultValue ['POST', 'PATCH']
   */
  readonly methods?: readonly string[]
  /**
   * Who asks, and what for. Replaces the default scope altogether.
   * @defaultValue method, concrete path and the principal that the gateway has verified
   */
  readonly scope?: (event: E, context: Context) => Scope
  /**
   * Says that callers are not told apart: whoever repeats a key with the same request gets its answer.
   * The scope is then method and concrete path.
   * @defaultValue false: a request without a verified principal is a configuration error
   */
  readonly anonymous?: boolean
  /**
   * What tells one request from another under the same key.
   * @defaultValue method, path, query, media type and body
   */
  readonly fingerprint?: (event: E) => unknown
  /**
   * Whether a returned response is final. One that is not is answered, and the operation may run again:
   * at once where it is certain that the handler has ended, in Middy (but for a 4xx other than 408) after the lease.
   * @defaultValue every response but 401, 403, 408, 425, 429, 502, 503 and 504
   */
  readonly storeResponse?: (response: HttpAnswer) => boolean | PromiseLike<boolean>
  /**
   * Names of response headers that only the first caller gets; a trailing `*` stands for any ending. Replaces the default list.
   * @defaultValue {@link HTTP_DEFAULTS}.stripHeaders
   */
  readonly stripHeaders?: readonly string[]
  /**
   * What becomes of a response that has such headers: stored without them and marked (`mark`), or not stored (`refuse`):
   * repetitions then learn that the operation was carried out, and it is not run again.
   * @defaultValue 'mark'
   */
  readonly onStripped?: 'mark' | 'refuse'
  /**
   * How a completed operation is answered: as it was, or by a function that may refresh the answer.
   * @defaultValue 'frozen'
   */
  readonly replay?: 'frozen' | ((stored: StoredResponse, event: E) => HttpAnswer | PromiseLike<HttpAnswer>)
  /**
   * Makes the response of a value that has none beside it: the handler has committed it and the process ended before
   * the answer, or `recover` or an operator gave it.
   * @defaultValue the value itself is the response
   */
  readonly render?: (value: never, event: E) => HttpAnswer
  /**
   * Lets an operation whose client never comes back be finished: the event is stored with the claim, and a reconciler,
   * or a signal through the relay, invokes this function (name or ARN, its own as a rule) with it again. Headers that
   * carry credentials (authorization, cookie, x-api-key) are not stored: the handler has to take the caller from the
   * gateway's context.
   * @defaultValue none: only a repetition of the client continues it
   */
  readonly redrive?: { readonly functionName: string }
  /**
   * Sees every answer by which a request is refused here (400, 409, 422, 202, 503), and gives the one to send: with
   * more headers, or in another format. Middy runs no `after` hook for these, so what @middy/http-cors or
   * @middy/http-security-headers adds to other responses has to be added here. Replays do not come by: they have the
   * headers of the first answer. When it throws, or gives no response, the answer is sent as it was.
   *
   * @example
   * onRefused: (answer) => ({ ...answer, headers: { ...answer.headers, 'Access-Control-Allow-Origin': origin } })
   *
   * @defaultValue none: the answer as it is
   */
  readonly onRefused?: (answer: HttpAnswer, event: E) => HttpAnswer | PromiseLike<HttpAnswer>
}

/** The defaults of {@link IdempotentHttpOptions}. */
export const HTTP_DEFAULTS: Readonly<{
  header: string
  key: 'required' | 'optional'
  methods: readonly string[]
  stripHeaders: readonly string[]
  onStripped: 'mark' | 'refuse'
  replay: 'frozen'
}> = /* @__PURE__ */ Object.freeze({
  header: 'Idempotency-Key',
  key: 'required',
  methods: ['POST', 'PATCH'],
  stripHeaders: [
    'set-cookie',
    'www-authenticate',
    'authorization',
    'date',
    'connection',
    'transfer-encoding',
    'x-amzn-*',
  ],
  onStripped: 'mark',
  replay: 'frozen',
})

const WITHOUT_DEFAULT = [
  'idempotency',
  'keyFrom',
  'scope',
  'anonymous',
  'fingerprint',
  'storeResponse',
  'render',
  'redrive',
  'onRefused',
]

/** Options after validation. Events are what the door got, so the callbacks' event type is forgotten here. */
export interface HttpSettings {
  readonly engine: Engine
  /** Where replays pass through the middlewares around the handler. */
  readonly inner: InnerForm | undefined
  readonly header: string
  readonly keyFrom: ((event: unknown, context: Context) => KeyInput) | undefined
  readonly isKeyRequired: boolean
  readonly methods: ReadonlySet<string>
  readonly scope: ((event: unknown, context: Context) => Scope) | undefined
  readonly anonymous: boolean
  readonly fingerprint: ((event: unknown) => unknown) | undefined
  readonly storeResponse: ((response: HttpAnswer) => boolean | PromiseLike<boolean>) | undefined
  readonly render: ((value: unknown, event: unknown) => HttpAnswer) | undefined
  readonly redrive: { readonly functionName: string } | undefined
  readonly isStripped: (lowerCaseName: string) => boolean
  /** Whether a response that lost headers is stored and marked, or not stored. */
  readonly isMarked: boolean
  readonly onRefused: ((answer: HttpAnswer, event: unknown) => HttpAnswer | PromiseLike<HttpAnswer>) | undefined
  readonly refresh: ((stored: StoredResponse, event: unknown) => HttpAnswer | PromiseLike<HttpAnswer>) | undefined
}

/** @throws InvalidOptionError naming the option, what was expected and what came. */
export function resolveHttpOptions<E>(of: string, options: IdempotentHttpOptions<E>, inner?: InnerForm): HttpSettings {
  refuseUnknown(of, options, [...Object.keys(HTTP_DEFAULTS), ...WITHOUT_DEFAULT])
  const {
    header = HTTP_DEFAULTS.header,
    key = HTTP_DEFAULTS.key,
    methods = HTTP_DEFAULTS.methods,
    stripHeaders = HTTP_DEFAULTS.stripHeaders,
    onStripped = HTTP_DEFAULTS.onStripped,
    replay = HTTP_DEFAULTS.replay,
    scope,
    anonymous = false,
  } = options
  booleanOption('anonymous', anonymous)
  refuseBoth('scope', scope, 'anonymous', anonymous)
  refuseBoth('header', options.header, 'keyFrom', options.keyFrom)
  if (replay !== 'frozen' && typeof replay !== 'function') {
    throw new InvalidOptionError(`replay must be "frozen" or a function; got ${show(replay)}.`)
  }
  const methodNames = tokens('methods', methods)
  if (methodNames.length === 0) throw new InvalidOptionError('methods must name at least one; got an empty list.')
  return Object.freeze({
    engine: engineOf(options.idempotency),
    inner,
    header: tokens('header', [header]).join(),
    keyFrom: functionOption('keyFrom', options.keyFrom) as HttpSettings['keyFrom'],
    isKeyRequired: oneOf('key', key, ['required', 'optional']) === 'required',
    methods: new Set(methodNames.map((method) => method.toUpperCase())),
    anonymous,
    isStripped: headerMatcher(tokens('stripHeaders', stripHeaders)),
    isMarked: oneOf('onStripped', onStripped, ['mark', 'refuse']) === 'mark',
    storeResponse: functionOption('storeResponse', options.storeResponse),
    render: functionOption('render', options.render) as HttpSettings['render'],
    redrive: redriveOption(options.redrive),
    // The user fixed E; the event of each call is of that type or the gateway is wired to another handler.
    scope: functionOption('scope', scope) as HttpSettings['scope'],
    fingerprint: functionOption('fingerprint', options.fingerprint) as HttpSettings['fingerprint'],
    onRefused: functionOption('onRefused', options.onRefused) as HttpSettings['onRefused'],
    refresh: (replay === 'frozen' ? undefined : replay) as HttpSettings['refresh'],
  })
}

function refuseBoth(one: string, first: unknown, other: string, second: unknown): void {
  if (first && second) throw new InvalidOptionError(`${one} and ${other} exclude each other; got both.`)
}

function redriveOption(redrive: IdempotentHttpOptions['redrive']): HttpSettings['redrive'] {
  if (redrive === undefined) return undefined
  if (typeof redrive?.functionName === 'string' && redrive.functionName !== '') return redrive
  throw new InvalidOptionError(`redrive must be { functionName }; got ${show(redrive)}.`)
}

/** Methods and header names are tokens of RFC 9110, section 5.6.2, of which the `*` is one character. */
function tokens(name: string, values: readonly unknown[]): readonly string[] {
  if (!Array.isArray(values)) throw new InvalidOptionError(`${name} must be a list of names; got ${show(values)}.`)
  return values.map((value: unknown) => {
    if (typeof value === 'string' && /^[!#$%&'*+.^_`|~\w-]+$/.test(value)) return value
    throw new InvalidOptionError(`${name} must be made of names without spaces or colons; got ${show(value)}.`)
  })
}
