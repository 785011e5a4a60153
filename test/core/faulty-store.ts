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

/** What goes over the wire. Preparing a commit does not; writing what was prepared does. */
export type StoreCall = Exclude<keyof Store, 'prepare'> | 'commit'

/** What happens to the next calls, method by method; when a list is used up, calls go through. */
export type Faults = { readonly [M in StoreCall]?: Fault[] }

/** A store, and the names of the calls so far. */
export type FaultyStore = Store & { readonly calls: StoreCall[] }

export function faultyStore(store: Store, faults: Faults): FaultyStore {
  const calls: StoreCall[] = []
  function through<A extends unknown[], R>(name: StoreCall, send: (...args: A) => Promise<R>) {
    return async (...args: A): Promise<R> => {
      calls.push(name)
      const fault = faults[name]?.shift() ?? 'none'
      if (fault === 'not-applied') throw new StoreError('The request never arrived.', { retryable: true })
      if (fault === 'refused') throw new StoreError('Access denied.', { retryable: false })
      const answer = await send(...args)
      if (fault === 'answer-lost') throw new StoreError('The answer was lost.', { retryable: true })
      return answer
    }
  }
  return { calls, ...overEveryCall(store, through) }
}

/** Wraps whatever goes over the wire. */
export type Wrap = <A extends unknown[], R>(name: StoreCall, send: (...args: A) => Promise<R>) => typeof send

/** The same store, with every call wrapped, the one that writes a prepared commit as well. */
export function overEveryCall(store: Store, wrap: Wrap): Store {
  return {
    put: wrap('put', store.put),
    update: wrap('update', store.update),
    get: wrap('get', store.get),
    prepare: async (...args) => ({ commit: wrap('commit', (await store.prepare(...args)).commit) }),
    putBeside: wrap('putBeside', store.putBeside),
    updateBeside: wrap('updateBeside', store.updateBeside),
    listBeside: wrap('listBeside', store.listBeside),
    listDue: wrap('listDue', store.listDue),
    putParts: wrap('putParts', store.putParts),
    getParts: wrap('getParts', store.getParts),
  }
}
