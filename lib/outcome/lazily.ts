import { StoreError } from '../base/errors.ts'

const parts: (() => Promise<unknown>)[] = []

/**
 * Loads a part of the package when it is needed first: most operations store small JSON, and their cold starts do not
 * pay for the rest. A part that cannot be loaded is like a store that does not answer: tried again, and never a reason to
 * lose an outcome.
 *
 * @throws StoreError when it cannot be loaded now
 */
export function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  const part = () => {
    loading ??= load().catch((cause: unknown) => {
      loading = undefined
      throw new StoreError('A part of lambda-once could not be loaded.', { cause, retryable: true })
    })
    return loading
  }
  parts.push(part)
  return part
}

/**
 * Loads everything now that is loaded when it is needed first: on a clock that is made, loading must not take any time.
 *
 * @throws StoreError when a part cannot be loaded now
 */
export async function loadParts(): Promise<void> {
  // A part that is loaded may bring parts of its own.
  for (const part of parts) await part()
}
