import { withoutHeaders } from '../answer/headers.ts'

/** What proves who the caller is. The gateway has verified it already, and says so in the request's context. */
const CREDENTIALS: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-api-key',
  'x-amz-security-token',
]

/** The event as it may be stored to be delivered again: without the caller's credentials. */
export function redrivenEvent(event: object): object {
  const { cookies: _cookies, ...rest } = event as Record<string, unknown>
  return withoutHeaders(rest, (name) => CREDENTIALS.includes(name)).response
}
