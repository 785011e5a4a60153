import type { GroupRequests } from '../../lib/dynamodb/group/writes.ts'
import type { BesideItem, OperationRecord, Store, WriteAnswer } from '../../lib/index.ts'
import type { MemoryStore, Transact } from '../../lib/memory/index.ts'
import { type StatementFate, simulatedGroups } from './grouping.ts'
import type { LookLog } from './looks.ts'
import type { Network } from './network.ts'
import type { Process } from './process.ts'
import type { Subject } from './subject.ts'
import type { Invariant } from './truth.ts'
import type { Unprotected } from './unprotected.ts'
import { createPieces, type Pieces } from './values.ts'

/** Who writes. */
export interface Actor {
  readonly process: Process
  readonly role: 'worker' | 'reconciler' | 'operator' | 'signaller' | 'relay'
}

/** Sees every write at the moment it is applied. */
export interface TableWatcher {
  wrote(id: string, before: OperationRecord | undefined, after: OperationRecord | undefined, actor: Actor): void
  /** The caller's own writes of a commit are about to be applied. */
  committing(id: string, actor: Actor): void
  /** An item was put into the outbox. */
  outboxed(id: string, item: BesideItem): void
  deleted(record: OperationRecord): void
  broken(invariant: Invariant, detail: string): void
}

/** The one table, as the service has it. */
export interface Table {
  readonly memory: MemoryStore
  readonly pieces: Pieces
  /** The store as one process reaches it. */
  storeFor(actor: Actor): Store
  /** Deletes what TTL may delete now. */
  expire(nowMs: number, isHit: () => boolean): void
}

/** @param fateOf - what becomes of each statement of a batch, and whether a failed condition brings the item along */
export function createTable(
  subject: Subject,
  network: Network,
  watcher: TableWatcher,
  judgeWrites: Transact,
  fateOf: { statement(): StatementFate | undefined; bringsItem(): boolean },
  { unprotected, looks }: { readonly unprotected: Unprotected; readonly looks: LookLog },
): Table {
  let committing: { readonly id: string; readonly actor: Actor } | undefined
  const memory = subject.memoryStore({
    transact(writes) {
      const conflicts = judgeWrites(writes)
      if ((conflicts ?? []).length === 0 && committing !== undefined && writes.length > 0) {
        watcher.committing(committing.id, committing.actor)
      }
      return conflicts
    },
  })
  const pieces = createPieces(memory)
  const failure = {
    mayRepeat: true,
    lost: () => new subject.StoreError('The answer was lost.', { retryable: true }),
    throttled: () => new subject.StoreError('Throttled.', { retryable: true }),
  }

  function storeFor(actor: Actor): Store {
    const { process } = actor
    const read = <T>(what: string, send: () => Promise<T>) => network.call(process, what, send, failure)

    /** Carries out a write of the record: the watcher sees what it did. */
    async function apply<T>(id: string, send: () => Promise<T>): Promise<T> {
      const before = await memory.get(id)
      committing = { id, actor }
      const answer = await send()
      committing = undefined
      watcher.wrote(id, before, await memory.get(id), actor)
      return answer
    }
    const write = <T>(what: string, id: string, send: () => Promise<T>) =>
      network.call(process, what, () => apply(id, send), failure)
    /** The writer hears what stands against it. */
    const answered = (id: string) => (answer: WriteAnswer) => {
      if (!answer.applied) unprotected.hears(process, id, answer.existing)
      return answer
    }

    const groups = simulatedGroups(memory, {
      ...fateOf,
      call: read,
      apply,
      fate: fateOf.statement,
      unfit: (why) => watcher.broken('a request is one that the service takes', why),
    })
    const sent: GroupRequests = {
      ...groups,
      write(writes) {
        for (const one of writes) if (one.kind === 'insert') looks.writes(one.record)
        return groups.write(writes)
      },
    }
    const records: Pick<Store, 'get' | 'put'> = {
      put(record, condition) {
        looks.writes(record)
        return write(`put ${condition.kind}`, record.id, () => memory.put(record, condition)).then(answered(record.id))
      },
      get: async (id) => {
        const record = await read('get', () => memory.get(id))
        unprotected.hears(process, id, record)
        return record
      },
    }
    const store: Store = {
      ...records,
      put: looks.watched('alone', subject.lookingFirst(records)),
      update: (id, change, condition) =>
        write(`update to ${change.status} if ${condition.kind}`, id, () => memory.update(id, change, condition)).then(
          answered(id),
        ),
      async prepare(id, writes, beside) {
        const prepared = await memory.prepare(id, writes, beside)
        let isAnnounced = false
        return {
          commit: (change, condition, requestToken) =>
            write(`commit to ${change.status} if ${condition.kind}`, id, async () => {
              const answer = await prepared.commit(change, condition, requestToken)
              // A repetition under the same request token is answered, and not applied again.
              if (answer.kind === 'applied' && !isAnnounced) {
                isAnnounced = true
                for (const item of beside) if (item.sk.startsWith(subject.OUTBOX_PREFIX)) watcher.outboxed(id, item)
              }
              return answer
            }),
        }
      },
      putBeside: (id, item) => read('putBeside', () => memory.putBeside(id, item)),
      updateBeside: (...args) => read('updateBeside', () => memory.updateBeside(...args)),
      listBeside: (...args) => read('listBeside', () => memory.listBeside(...args)),
      listDue: (...args) => read('listDue', () => memory.listDue(...args)),
      putParts: (parts) => read('putParts', () => pieces.put(parts)),
      getParts: (...args) => read('getParts', () => pieces.get(...args)),
    }
    return {
      ...store,
      grouped(pacing) {
        const together = subject.groupedStore(store, sent, pacing)
        return { ...together, put: looks.watched('together', together.put) }
      },
    }
  }

  return {
    memory,
    pieces,
    storeFor,
    expire(nowMs, isHit) {
      pieces.expire(nowMs, isHit)
      for (const record of memory.records()) {
        if (record.expiresAt === undefined || record.expiresAt > Math.floor(nowMs / 1000) || !isHit()) continue
        memory.remove(record.id)
        watcher.deleted(record)
      }
    },
  }
}
