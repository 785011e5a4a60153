import { fileURLToPath } from 'node:url'
import { firstJsonLine, spawnTied } from '../engines/tied-process.ts'
import type { ProviderStats } from './ledger.ts'
import type { ProviderBehaviour } from './server.ts'

/** A payment provider in a process of its own, as a third party would be. */
export interface PaymentProvider {
  /** What goes into PAYMENT_PROVIDER_URL. */
  readonly endpoint: string
  stats(): Promise<ProviderStats>
  stop(): Promise<void>
}

/** Starts the payment provider; it dies with this process. */
export async function startPaymentProvider(behaviour: ProviderBehaviour = {}): Promise<PaymentProvider> {
  const entry = fileURLToPath(new URL('./process.ts', import.meta.url))
  const child = spawnTied(process.execPath, [entry, JSON.stringify(behaviour)])
  const { endpoint } = (await firstJsonLine(child, 'the payment provider')) as { endpoint: string }
  return Object.freeze({
    endpoint,
    stats: async () => (await (await fetch(`${endpoint}/stats`)).json()) as ProviderStats,
    stop: child.kill,
  })
}
