import type { OperationRecord } from '../../record/record.ts'
import type { RecordChange, Store } from '../../record/store.ts'

/** Wraps one call that goes over the wire; `what` says in words what it is. */
export type Wire = <T>(what: string, send: () => Promise<T>) => Promise<T>

/**
 * The same store, with every call wrapped that goes over the wire. Preparing a commit does not.
 *
 * @param committed - told of every commit of an operation that is applied, with what is the same in each of its tries
 */
export function overTheWire(store: Store, wire: Wire, committed: (requestToken: string) => void): Store {
  const wrapped = Object.entries(store).map(([name, method]) => {
    if (typeof method !== 'function' || name === 'prepare') return [name, method]
    return [name, (...args: unknown[]) => wire(wordsFor(name, args), () => method(...args) as Promise<unknown>)]
  })
  return {
    ...(Object.fromEntries(wrapped) as Store),
    async prepare(...args) {
      const { commit } = await store.prepare(...args)
      return {
        commit: (change, condition, requestToken) => {
          const isEnd = change.status === 'COMPLETED'
          return wire(isEnd ? 'the commit' : wordsForChange(change), async () => {
            const answer = await commit(change, condition, requestToken)
            if (isEnd && answer.kind === 'applied') committed(requestToken)
            return answer
          })
        },
      }
    },
  }
}

function wordsFor(name: string, args: readonly unknown[]): string {
  switch (name) {
    case 'put':
      return 'the claim'
    case 'update':
      return wordsForChange(args[1] as RecordChange)
    case 'get':
      return 'a look at the record'
    case 'putParts':
      return 'the writing of a large result'
    case 'getParts':
      return 'the reading of a large result'
    default:
      return `the store call ${name}`
  }
}

function wordsForChange({ status, step, token, wire }: RecordChange): string {
  if (wire !== undefined) return 'the writing of the final response'
  if (step !== undefined) {
    if (step.record === undefined) return `the removal of the start mark of step "${step.name}"`
    return step.record.kind === 'started'
      ? `the start mark of step "${step.name}"`
      : `the recording of step "${step.name}"`
  }
  if (status === 'IN_PROGRESS') return token === undefined ? 'the extension of the lease' : 'the takeover'
  return ENDS[status]
}

const ENDS: Readonly<Record<Exclude<OperationRecord['status'], 'IN_PROGRESS'>, string>> = {
  COMPLETED: 'the completion of the operation',
  FAILED: 'the writing of the failure',
  RETRYABLE: 'the writing that it is to be resumed',
  RELEASED: 'the release',
  WAITING: 'the suspension',
  UNKNOWN: 'the writing that the outcome is unknown',
}
