import { resolveOptions, type Settings } from '../../operation/options.ts'
import type { Store } from '../../record/store.ts'
import { namespaceOf } from '../operation/name.ts'

/** What the engine has to know of the application, as far as an operator can say it. */
export interface EngineOptions {
  readonly retentionSeconds?: number
  readonly relay?: boolean
}

/**
 * The settings of the engine for an operator's act.
 *
 * One shard of the index: a reconciler reads all of its shards, the first one whatever their number, so that what an
 * operator leaves to it is found without knowing how many there are.
 */
export function settingsFor(store: Store, id: string, { retentionSeconds, relay }: EngineOptions): Settings {
  return resolveOptions({
    store,
    namespace: namespaceOf(id),
    reconcilerShards: 1,
    ...(retentionSeconds !== undefined && { retentionSeconds }),
    ...(relay !== undefined && { relay }),
  })
}
