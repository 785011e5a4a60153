import { randomUUID } from 'node:crypto'
import { InvalidOptionError } from '../../base/errors.ts'
import { refuseUnknown, show } from '../../base/guards.ts'

/** What a test says of an HTTP request; the rest is filled in as the source of the event does. */
export interface HttpEventOptions {
  /** @defaultValue 'POST' */
  readonly method?: string
  /**
   * As the client wrote it, without the query.
   * @defaultValue '/'
   */
  readonly path?: string
  /**
   * The route that it matches, such as `/orders/{id}`.
   * @defaultValue the path
   */
  readonly route?: string
  readonly pathParameters?: Readonly<Record<string, string>>
  /**
   * The idempotency key; `null`: none.
   * @defaultValue 'key-1'
   */
  readonly key?: string | null
  /** More headers, or other ones. A list is a header that came several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly query?: Readonly<Record<string, string | readonly string[]>>
  /** Text and bytes are sent as they are, bytes as base64; anything else as JSON. */
  readonly body?: unknown
  /**
   * Whom the gateway has verified: the `sub` of a token, or the user of a Function URL; `null`: nobody.
   * A load balancer verifies nobody.
   * @defaultValue 'user-1'
   */
  readonly principal?: string | null
}

/** A request with all that the sources say about it in common. */
export interface HttpRequestParts {
  readonly method: string
  readonly path: string
  readonly route: string
  readonly pathParameters: Readonly<Record<string, string>> | undefined
  /** Name and values, in the client's writing. */
  readonly headers: readonly Many[]
  readonly query: readonly Many[]
  readonly body: string | undefined
  readonly isBase64Encoded: boolean
  readonly principal: string | undefined
  readonly userAgent: string
  readonly sourceIp: string
}

/** A name, and every value that came under it. */
export type Many = readonly [name: string, values: readonly string[]]

export const ACCOUNT = '111122223333'
export const REGION = 'eu-central-1'
export const ISSUER: string = `https://cognito-idp.${REGION}.amazonaws.com/${REGION}_example`
const USER_AGENT = 'Mozilla/5.0 (compatible; test)'
const SOURCE_IP = '192.0.2.1'

const OPTION_NAMES = ['method', 'path', 'route', 'pathParameters', 'key', 'headers', 'query', 'body', 'principal']

/** @throws InvalidOptionError naming the option, what was expected and what came. */
export function requestParts(of: string, host: string, options: HttpEventOptions): HttpRequestParts {
  refuseUnknown(of, options, OPTION_NAMES)
  const { method = 'POST', path = '/', route = path, pathParameters, principal = 'user-1', key = 'key-1' } = options
  if (typeof path !== 'string' || !path.startsWith('/') || path.includes('?')) {
    throw new InvalidOptionError(`path must begin with "/" and go without a query; got ${show(path)}.`)
  }
  const body = bodyOf(options.body)
  const usual: Record<string, string> = {
    Accept: '*/*',
    Host: host,
    'User-Agent': USER_AGENT,
    'X-Amzn-Trace-Id': `Root=1-6955b900-${randomUUID().replaceAll('-', '').slice(0, 24)}`,
    'X-Forwarded-For': SOURCE_IP,
    'X-Forwarded-Port': '443',
    'X-Forwarded-Proto': 'https',
    ...(body.type !== undefined && { 'Content-Type': body.type }),
    ...(key !== null && { 'Idempotency-Key': key }),
  }
  const given = lists(options.headers)
  const replaced = new Set(given.map(([name]) => name.toLowerCase()))
  const headers = [...lists(usual).filter(([name]) => !replaced.has(name.toLowerCase())), ...given]
  return {
    method: method.toUpperCase(),
    path,
    route,
    pathParameters,
    headers,
    query: lists(options.query),
    body: body.text,
    isBase64Encoded: body.isBase64,
    principal: principal ?? undefined,
    userAgent: USER_AGENT,
    sourceIp: SOURCE_IP,
  }
}

function bodyOf(body: unknown): { readonly text?: string; readonly type?: string; readonly isBase64: boolean } {
  if (body === undefined || body === null) return { isBase64: false }
  if (typeof body === 'string') return { text: body, isBase64: false }
  if (body instanceof Uint8Array) {
    return { text: Buffer.from(body).toString('base64'), type: 'application/octet-stream', isBase64: true }
  }
  return { text: JSON.stringify(body), type: 'application/json', isBase64: false }
}

function lists(map: Readonly<Record<string, string | readonly string[]>> = {}): readonly Many[] {
  return Object.entries(map).map(([name, value]) => [name, typeof value === 'string' ? [value] : value])
}

/** One value per name, made of all that came. */
export function single(
  many: readonly Many[],
  join: (values: readonly string[]) => string,
  nameOf: (name: string) => string = (name) => name,
): Record<string, string> {
  return Object.fromEntries(many.map(([name, values]) => [nameOf(name), join(values)]))
}

/** All values per name. */
export function multiple(
  many: readonly Many[],
  nameOf: (name: string) => string = (name) => name,
): Record<string, string[]> {
  return Object.fromEntries(many.map(([name, values]) => [nameOf(name), [...values]]))
}

export const last = (values: readonly string[]): string => values.at(-1) ?? ''
export const commas = (values: readonly string[]): string => values.join(',')
export const lowerCase = (name: string): string => name.toLowerCase()
