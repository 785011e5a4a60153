import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type LoopbackServer, listenOnLoopback } from '../engines/loopback-server.ts'
import { seededRandom } from '../seeded-random.ts'
import { type ChargeRequest, createLedger, type Ledger } from './ledger.ts'

/** How well the provider behaves. */
export interface ProviderBehaviour {
  /** Longest time a charge takes; each takes a random part of it. @defaultValue 0 */
  readonly latencyMs?: number
  /** Chance, 0–1, of a 503 before anything happens. @defaultValue 0 */
  readonly unavailableChance?: number
  /** Chance, 0–1, of an answer that is lost after the charge was made. @defaultValue 0 */
  readonly lostAnswerChance?: number
  /** Decides which requests meet those fates. @defaultValue 1 */
  readonly seed?: number
}

/** Serves the provider on loopback, in this process. */
export async function servePaymentProvider(behaviour: ProviderBehaviour = {}): Promise<LoopbackServer> {
  const ledger = createLedger()
  const random = seededRandom(behaviour.seed ?? 1)
  const server = createServer((request, response) => {
    void handle(request, response, ledger, behaviour, random).catch(() => response.destroy())
  })
  return listenOnLoopback(server)
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  ledger: Ledger,
  behaviour: ProviderBehaviour,
  random: () => number,
): Promise<void> {
  const reply = (status: number, body: unknown, headers: Record<string, string> = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
  if (request.method === 'GET' && request.url === '/stats') return reply(200, ledger.stats())
  if (request.method !== 'POST' || request.url !== '/charges') return reply(404, { error: 'not_found' })
  const text = await readText(request)
  ledger.countCall()
  const [latency, unavailable, lost] = [random(), random(), random()]
  await sleep(latency * (behaviour.latencyMs ?? 0))
  if (unavailable < (behaviour.unavailableChance ?? 0)) {
    return reply(503, { error: 'unavailable' }, { 'retry-after': '1' })
  }
  const idempotencyKey = request.headers['idempotency-key']
  if (typeof idempotencyKey !== 'string' || idempotencyKey === '')
    return reply(400, { error: 'idempotency_key_missing' })
  const charge = chargeRequest(text)
  if (charge === undefined) return reply(400, { error: 'invalid_charge' })
  const outcome = ledger.charge(idempotencyKey, charge)
  if (outcome.kind === 'mismatch') return reply(422, { error: 'idempotency_key_reused' })
  if (lost < (behaviour.lostAnswerChance ?? 0)) {
    // The charge is in the books; the caller will never learn it from this connection.
    request.socket.destroy()
    return
  }
  reply(outcome.kind === 'charged' ? 201 : 200, outcome.charge)
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
