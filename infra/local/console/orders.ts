import type { DemoAnswer } from '../../../lib/cli/console/demo.ts'
import { operationId } from '../../../lib/record/identity.ts'
import type { LocalJwtAuthorizer } from '../template/model.ts'

/** An order that was sent, to be sent again. */
export interface SentOrder {
  readonly key: string
  readonly quantity: number
  readonly operationId: string
}

/** Who sends the orders of the demo. */
export const PRINCIPAL = 'alice'

const LONGEST_TEXT = 110

/** The operation that `POST /orders` makes of a key: its scope is method, path and principal. */
export function orderOperation({ issuer }: LocalJwtAuthorizer, key: string): string {
  return operationId('orders', ['POST', '/orders', 'jwt', issuer, PRINCIPAL], key)
}

/** Posts an order once, as a client does that does not repeat it, and tells what it got. */
export async function postOrder(
  endpoint: string,
  token: string,
  { key, quantity }: Pick<SentOrder, 'key' | 'quantity'>,
): Promise<{ readonly answer: DemoAnswer; readonly orderId: string | undefined }> {
  const startedAtMs = Date.now()
  try {
    const response = await fetch(`${endpoint}/orders`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({
        customerId: 'demo-customer',
        items: [{ sku: 'book', quantity, unitPriceCents: 1_250 }],
        currency: 'EUR',
      }),
    })
    const body = fieldsOf(await response.text())
    const orderId = typeof body.orderId === 'string' ? body.orderId : undefined
    const retryAfter = response.headers.get('retry-after')
    const text = orderId ?? String(body.detail ?? body.title ?? body.message ?? '')
    const answer: DemoAnswer = {
      status: response.status,
      isReplay: response.headers.get('idempotent-replayed') === 'true',
      tookMs: Date.now() - startedAtMs,
      text: text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text,
      ...(retryAfter !== null && { retryAfterSeconds: Number(retryAfter) }),
    }
    return { answer, orderId }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    return { answer: { status: 0, isReplay: false, tookMs: Date.now() - startedAtMs, text }, orderId: undefined }
  }
}

/** What the answers to one order mean, in a sentence. */
export function meaningOf(answers: readonly DemoAnswer[]): string {
  const are = (test: (answer: DemoAnswer) => boolean) => answers.filter(test).length
  const placed = are(({ status, isReplay }) => status === 201 && !isReplay)
  const replayed = are(({ isReplay }) => isReplay)
  const stopped = are(({ status }) => status === 409)
  const refused = are(({ status }) => status === 422)
  const others = answers.length - placed - replayed - stopped - refused
  return [
    ...(placed > 0 ? ['Placed once.'] : []),
    ...(replayed > 0 ? [`${replayed} answered from what the first run stored: the handler was not run.`] : []),
    ...(stopped > 0
      ? [`${stopped} stopped, since the first one was still running: whoever repeats it later gets the stored answer.`]
      : []),
    ...(refused > 0 ? ['Refused: the key belongs to another order, and that one is untouched.'] : []),
    ...(others > 0 ? [`${others} got no final answer: repeating it with the same key is safe.`] : []),
  ].join(' ')
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}
