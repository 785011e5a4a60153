import * as v from 'valibot'
import { NoEffectError, PermanentError, type ProbeResult, type StepContext } from '../../lib/index.ts'
import { type Charge, ChargeSchema } from '../shared/charge.ts'
import type { Payment } from '../shared/payment.ts'

/** Leaves the function, which has 5 seconds, time to record what became of the charge. */
const PROVIDER_TIMEOUT_MS = 3_000

/** What says that this very charge is refused. No other answer does: one that may be our own mistake is not the order's. */
const REFUSED: readonly number[] = [400, 402, 422]

/** Our credentials or our URL are wrong, so that nothing can have been charged. */
const NOT_LET_IN: readonly number[] = [401, 403, 404]

const BUSY: readonly number[] = [429, 503]
const DEFAULT_BUSY_SECONDS = 30
/** A message can be held back no longer. */
const LONGEST_BUSY_SECONDS = 900

const AnswerSchema = v.pipe(v.string(), v.parseJson(), ChargeSchema)
const FoundSchema = v.pipe(v.string(), v.parseJson(), v.object({ charges: v.array(ChargeSchema) }))

/** The provider asks to be left alone for a while. Nobody knows whether it has charged. */
export class ProviderBusyError extends Error {
  override readonly name = 'ProviderBusyError'
  readonly seconds: number

  constructor(retryAfter: string | null) {
    super('The payment provider is busy.')
    const asked = Number(retryAfter ?? DEFAULT_BUSY_SECONDS)
    this.seconds = asked >= 1 && asked <= LONGEST_BUSY_SECONDS ? asked : DEFAULT_BUSY_SECONDS
  }
}

/** The payment provider as the worker knows it. */
export interface Provider {
  /** Charges the order. The key is the same in every attempt, so that the provider charges once. */
  charge(payment: Payment, step: StepContext): Promise<Charge>
  /** What became of a charge that was begun, and never heard of. */
  find(payment: Payment, step: StepContext): Promise<ProbeResult<Charge>>
}

/** The provider at a URL: charges are made and found under `/charges`. */
export function providerAt(url: string): Provider {
  async function ask(path: string, { signal }: StepContext, request: RequestInit = {}): Promise<string> {
    const timely = AbortSignal.any([signal, AbortSignal.timeout(PROVIDER_TIMEOUT_MS)])
    const response = await fetch(`${url}${path}`, { ...request, signal: timely })
    // Read in any case: the connection is free for the next charge only then.
    const text = await response.text()
    if (response.ok) return text
    const { status } = response
    if (BUSY.includes(status)) throw new ProviderBusyError(response.headers.get('retry-after'))
    const failure = `The payment provider answered ${status}.`
    if (request.method === 'POST' && REFUSED.includes(status)) throw new PermanentError(failure)
    throw NOT_LET_IN.includes(status) ? new NoEffectError(failure) : new Error(failure)
  }

  return {
    async charge({ orderId, amountCents, currency }, step) {
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': step.idempotencyKey }
      const body = JSON.stringify({ orderId, amountCents, currency })
      return v.parse(AnswerSchema, await ask('/charges', step, { method: 'POST', headers, body }))
    },
    async find({ orderId }, step) {
      const found = await ask(`/charges?orderId=${encodeURIComponent(orderId)}`, step)
      const [charge] = v.parse(FoundSchema, found).charges
      return charge === undefined ? { kind: 'not-done' } : { kind: 'done', value: charge }
    },
  }
}
