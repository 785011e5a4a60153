import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { listenOnLoopback } from '../../infra/local/engines/loopback-server.ts'
import type { Chance } from '../sim/chance.ts'

/** The third parties, and all they were asked for, by message. */
export interface ChaosProvider {
  readonly endpoint: string
  readonly runs: ReadonlyMap<string, number>
  /** Charges really made: repetitions of a key are answered, and not made again. */
  readonly charges: ReadonlyMap<string, number>
  readonly mails: ReadonlyMap<string, number>
  stop(): Promise<void>
}

interface Asked {
  readonly id: string
  readonly key?: string
  readonly fence?: string
}

export async function startChaosProvider(chance: Chance): Promise<ChaosProvider> {
  const runs = new Map<string, number>()
  const charges = new Map<string, number>()
  const mails = new Map<string, number>()
  const keys = new Set<string>()
  /** Whoever holds a lower fence may not send a mail any more. */
  const fences = new Map<string, string>()
  const count = (counts: Map<string, number>, id: string) => counts.set(id, (counts.get(id) ?? 0) + 1)

  function answer(path: string, { id, key = '', fence = '' }: Asked): string {
    switch (path) {
      case '/run':
        count(runs, id)
        return 'noted'
      case '/charge':
        if (!keys.has(key)) count(charges, id)
        keys.add(key)
        return `charged ${id}`
      case '/look':
        if (mails.has(id)) return 'sent'
        fences.set(id, fence)
        return 'not sent'
      default:
        if (fence < (fences.get(id) ?? '')) return 'turned away'
        count(mails, id)
        return 'sent'
    }
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
      await sleep(chance.between(0, 40))
      const text = answer(request.url ?? '', JSON.parse(Buffer.concat(chunks).toString('utf8')) as Asked)
      // It has happened; the answer takes its time, and the caller may be dead by then.
      await sleep(chance.between(0, 40))
      response.end(text)
    } catch {
      response.destroy()
    }
  })
  const { endpoint, stop } = await listenOnLoopback(server)
  return { endpoint, runs, charges, mails, stop }
}
