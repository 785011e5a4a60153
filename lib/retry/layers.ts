import { AsyncLocalStorage } from 'node:async_hooks'

/** A retry that is running, and the one it runs inside of. */
export interface Layer {
  readonly parent: Layer | undefined
  readonly deadlineMs: number
  readonly signal: AbortSignal | undefined
  /** Retries that may still be made inside this layer, by itself or by one within. */
  retriesLeft: number
  /** What outlives its layer (a socket's timer, a pool) is nobody's inner one. */
  ended: boolean
}

const running = new AsyncLocalStorage<Layer>()

/** The retry that the caller runs inside of. */
export function enclosingLayer(): Layer | undefined {
  const layer = running.getStore()
  return layer?.ended ? undefined : layer
}

/** Runs `work` so that every retry within knows this layer. */
export function insideLayer<T>(layer: Layer, work: () => T): T {
  return running.run(layer, work)
}

/**
 * Takes one retry, from this layer and from all around it: together they never make more calls than the most
 * sparing of them allows. `false` when one of them has none left.
 */
export function takeRetry(layer: Layer): boolean {
  const all = withParents(layer)
  if (all.some(({ retriesLeft }) => retriesLeft <= 0)) return false
  for (const each of all) each.retriesLeft--
  return true
}

function withParents(layer: Layer): readonly Layer[] {
  return layer.parent === undefined ? [layer] : [layer, ...withParents(layer.parent)]
}
