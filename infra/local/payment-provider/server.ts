import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type LoopbackServer, listenOnLoopback } from '../engines/loopback-server.ts'
import { seededRandom } from '../seeded-random.ts'
import { type CallbackStats, type Callbacks, type CallbackTarget, createCallbacks } from './callbacks.ts'
import { type ChargeRequest, createLedger, type Ledger, type LedgerStats, shareOfOrders } from './ledger.ts'

/** How well the provider behaves. */
export interface ProviderBehaviour {
  /** Longest time a charge takes, before and again after it is made; each takes a random part of it. @defaultValue 0 */
  readonly latencyMs?: number
  /** Chance, 0–1, of a 503 before anything happens. @defaultValue 0 */
  readonly unavailableChance?: number
  /** Chance, 0–1, of an answer that is lost after the charge was made. @defaultValue 0 */
  readonly lostAnswerChance?: number
  /** Share, 0–1, of the orders whose charge is pending at first, and confirmed by a callback. @defaultValue 0 */
  readonly pendingShare?: number
  /** Where callbacks go; needed for pending charges. */
  readonly callbacks?: CallbackTarget
  /** Decides which requests meet those fates. @defaultValue 1 */
  readonly seed?: number
}

/** Counts of a provider's life so far. */
export interface ProviderStats extends LedgerStats {
  /** Requests for a charge, repetitions and refused ones included. */
  readonly calls: number
  /** Charges whose caller was gone before it got the answer: it has died, or given up. */
  readonly unheard: number
  /** Times that somebody asked what had become of a charge, by whether there was one. */
  readonly lookups: { readonly found: number; readonly notFound: number }
  readonly callbacks: CallbackStats
}

interface Provider {
  readonly behaviour: ProviderBehaviour
  readonly ledger: Ledger
  readonly callbacks: Callbacks | undefined
  readonly random: () => number
  /** Orders that are charged and whose caller has not been told yet. */
  readonly unanswered: Set<string>
  readonly counts: { calls: number; unheard: number; found: number; notFound: number }
}

const NO_CALLBACKS: CallbackStats = { events: 0, posts: 0, accepted: 0, outstanding: 0 }

/** Serves the provider on loopback, in this process. */
export async function servePaymentProvider(behaviour: ProviderBehaviour = {}): Promise<LoopbackServer> {
  const { seed = 1, pendingShare = 0, callbacks } = behaviour
  const random = seededRandom(seed)
  const ledger = createLedger(callbacks ? shareOfOrders(pendingShare, seed) : () => false)
  const provider: Provider = {
    behaviour,
    ledger,
    callbacks: callbacks && createCallbacks(callbacks, ledger, seededRandom(seed + 1)),
    random,
    unanswered: new Set(),
    counts: { calls: 0, unheard: 0, found: 0, notFound: 0 },
  }
  const server = createServer((request, response) => {
    void handle(request, response, provider).catch(() => response.destroy())
  })
  return listenOnLoopback(server)
}

async function handle(request: IncomingMessage, response: ServerResponse, provider: Provider): Promise<void> {
  const reply = (status: number, body: unknown, headers: Record<string, string> = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://provider')
  switch (`${request.method} ${pathname}`) {
    case 'GET /stats':
      return reply(200, statsOf(provider))
    case 'GET /unanswered':
      return reply(200, [...provider.unanswered])
    case 'GET /charges': {
      const charges = provider.ledger.find(searchParams.get('orderId') ?? '')
      provider.counts[charges.length > 0 ? 'found' : 'notFound'] += 1
      return reply(200, { charges })
    }
    case 'POST /charges':
      return charge(request, response, provider, reply)
    default:
      return reply(404, { error: 'not_found' })
  }
}

async function charge(
  request: IncomingMessage,
  response: ServerResponse,
  { behaviour, ledger, callbacks, random, unanswered, counts }: Provider,
  reply: (status: number, body: unknown, headers?: Record<string, string>) => void,
): Promise<void> {
  const asked = chargeRequest(await readText(request))
  counts.calls += 1
  const { latencyMs = 0, unavailableChance = 0, lostAnswerChance = 0 } = behaviour
  const [before, unavailable, lost, after] = [random(), random(), random(), random()]
  await sleep(before * latencyMs)
  if (unavailable < unavailableChance) return reply(503, { error: 'unavailable' }, { 'retry-after': '1' })
  const idempotencyKey = request.headers['idempotency-key']
  if (typeof idempotencyKey !== 'string' || idempotencyKey === '')
    return reply(400, { error: 'idempotency_key_missing' })
  if (asked === undefined) return reply(400, { error: 'invalid_charge' })
  const outcome = ledger.charge(idempotencyKey, asked)
  if (outcome.kind === 'mismatch') return reply(422, { error: 'idempotency_key_reused' })
  // From here on the charge is in the books, and its caller does not know.
  if (outcome.kind === 'charged' && outcome.charge.status === 'pending') callbacks?.follow(outcome.charge)
  unanswered.add(asked.orderId)
  await sleep(after * latencyMs)
  unanswered.delete(asked.orderId)
  if (response.destroyed) counts.unheard += 1
  else if (lost < lostAnswerChance) request.socket.destroy()
  else reply(outcome.kind === 'charged' ? 201 : 200, outcome.charge)
}

function statsOf({ ledger, callbacks, counts }: Provider): ProviderStats {
  const { calls, unheard, found, notFound } = counts
  return {
    ...ledger.stats(),
    calls,
    unheard,
    lookups: { found, notFound },
    callbacks: callbacks?.stats() ?? NO_CALLBACKS,
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function chargeRequest(text: string): ChargeRequest | undefined {
  try {
    const { orderId, amountCents, currency } = JSON.parse(text) as Partial<Record<keyof ChargeRequest, unknown>>
    if (typeof orderId !== 'string' || orderId === '') return undefined
    if (typeof amountCents !== 'number' || !Number.isInteger(amountCents) || amountCents <= 0) return undefined
    if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) return undefined
    return { orderId, amountCents, currency }
  } catch {
    return undefined
  }
}
