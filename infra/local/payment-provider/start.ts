import { fileURLToPath } from 'node:url'
import { firstJsonLine, spawnTied } from '../engines/tied-process.ts'
import type { ProviderBehaviour, ProviderStats } from './server.ts'

/** A payment provider in a process of its own, as a third party would be. */
export interface PaymentProvider {
  /** What goes into PAYMENT_PROVIDER_URL. */
  readonly endpoint: string
  stats(): Promise<ProviderStats>
  /** The orders that are charged and whose caller has not been told yet. */
  unanswered(): Promise<readonly string[]>
  /** Stops its process (SIGSTOP): it takes connections and does not answer. */
  pause(): void
  /** Lets it go on. */
  resume(): void
  stop(): Promise<void>
}

/** Starts the payment provider; it dies with this process. */
export async function startPaymentProvider(behaviour: ProviderBehaviour = {}): Promise<PaymentProvider> {
  const entry = fileURLToPath(new URL('./process.ts', import.meta.url))
  const child = spawnTied(process.execPath, [entry, JSON.stringify(behaviour)])
  const { endpoint } = (await firstJsonLine(child, 'the payment provider')) as { endpoint: string }
  const get = async (path: string): Promise<unknown> => (await fetch(`${endpoint}${path}`)).json()
  return Object.freeze({
    endpoint,
    stats: async () => (await get('/stats')) as ProviderStats,
    unanswered: async () => (await get('/unanswered')) as string[],
    pause: () => child.signal('SIGSTOP'),
    resume: () => child.signal('SIGCONT'),
    stop: child.kill,
  })
}
