import { type Store, StoreError } from '../../lib/index.ts'

/** What happens to one call of a store method. */
export type Fault =
  /** The call is carried out and its answer is lost. */
  | 'answer-lost'
  /** The call never arrives. */
  | 'not-applied'
  /** The service refuses it for good. */
  | 'refused'
  | 'none'

/** What happens to the next calls, method by method; when a list is used up, calls go through. */
export type Faults = { readonly [M in keyof Store]?: Fault[] }

/** A store, and the names of the methods called so far. */
export type FaultyStore = Store & { readonly calls: (keyof Store)[] }

export function faultyStore(store: Store, faults: Faults): FaultyStore {
  const calls: (keyof Store)[] = []
  function through<M extends keyof Store>(method: M): Store[M] {
    const call = async (...args: never[]) => {
      calls.push(method)
      const fault = faults[method]?.shift() ?? 'none'
      if (fault === 'not-applied') throw new StoreError('The request never arrived.', { retryable: true })
      if (fault === 'refused') throw new StoreError('Access denied.', { retryable: false })
      const answer: unknown = await Reflect.apply(store[method], store, args)
      if (fault === 'answer-lost') throw new StoreError('The answer was lost.', { retryable: true })
      return answer
    }
    return call as Store[M]
  }
  return {
    calls,
    put: through('put'),
    update: through('update'),
    get: through('get'),
    putParts: through('putParts'),
    getParts: through('getParts'),
  }
}
