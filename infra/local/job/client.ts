import { setTimeout as sleep } from 'node:timers/promises'
import type { OrderBody } from './plan.ts'
import type { Tally } from './tally.ts'

// A patient client: long enough for a lease to end and a throttled moment to pass.
const MAX_ATTEMPTS = 12
const BASE_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 3000
const RETRYABLE = new Set([409, 429, 500, 502, 503, 504])

/** The answer a client was left with. */
export interface FinalAnswer {
  /** 0 when no attempt got an answer at all. */
  readonly status: number
  readonly body: string
  readonly attempts: number
}

/** What a client posts. */
export interface OrderPost {
  readonly body: OrderBody
  readonly key?: string
  readonly token?: string
  /** Takes the first answer of the service for the last one, whatever it is. */
  readonly abandons?: boolean
}

/** Options of {@link createOrderClient}. */
export interface OrderClientOptions {
  readonly endpoint: string
  readonly tally: Tally
  readonly random: () => number
  /** Holds back requests so that only so many are open at once. */
  readonly limit: <Value>(work: () => Promise<Value>) => Promise<Value>
  readonly signal: AbortSignal
}

/** Posts orders and retries as a well-behaved client does: with the same key, after Retry-After or a jittered backoff. */
export type PostOrder = (post: OrderPost) => Promise<FinalAnswer>

/** Makes the function with which all clients of the job post. */
export function createOrderClient(options: OrderClientOptions): PostOrder {
  const { endpoint, tally, random, limit, signal } = options

  const once = async ({ body, key, token }: OrderPost): Promise<{ status: number; body: string; waitMs: number }> => {
    tally.requestSent()
    const headers = new Headers({ 'content-type': 'application/json' })
    if (key !== undefined) headers.set('idempotency-key', key)
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    try {
      const response = await fetch(`${endpoint}/orders`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal,
      })
      const text = await response.text()
      tally.answered(response.status, response.headers.get('idempotent-replayed') === 'true')
      const retryAfterSeconds = Number(response.headers.get('retry-after') ?? 0)
      return { status: response.status, body: text, waitMs: retryAfterSeconds * 1000 }
    } catch (error) {
      signal.throwIfAborted()
      tally.connectionFailed()
      return { status: 0, body: String(error), waitMs: 0 }
    }
  }

  return async (post) => {
    for (let attempt = 1; ; attempt += 1) {
      const { status, body, waitMs } = await limit(() => once(post))
      // A 503 is the gateway's: there was no process for the request, and nothing has begun.
      const isFinal = post.abandons ? status !== 503 : status !== 0 && !RETRYABLE.has(status)
      if (isFinal || attempt === MAX_ATTEMPTS) return { status, body, attempts: attempt }
      const backoffMs = random() * Math.min(MAX_BACKOFF_MS, BASE_BACKOFF_MS * 2 ** attempt)
      await sleep(waitMs + backoffMs, undefined, { signal })
    }
  }
}
