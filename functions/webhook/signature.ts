import { createHmac, timingSafeEqual } from 'node:crypto'

/** How old, or how far ahead of our clock, a signature may be: an older request may have been recorded and sent again. */
const TOLERANCE_SECONDS = 300

/**
 * Whether a body is signed by whoever knows the secret, not long ago: the header is `t=<seconds since 1970>,v1=<hex>`, and
 * the second part the HMAC-SHA-256 of the seconds, a dot and the body.
 */
export function isSigned(secret: string, header: string | undefined, body: Buffer, nowMs: number): boolean {
  const [, seconds, given] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? '') ?? []
  if (seconds === undefined || given === undefined) return false
  if (Math.abs(nowMs / 1_000 - Number(seconds)) > TOLERANCE_SECONDS) return false
  const expected = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest()
  return timingSafeEqual(expected, Buffer.from(given, 'hex'))
}
