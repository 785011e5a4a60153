/** An item of the idempotency table, as whoever looks into the books finds it. */
export type StoredItem = Readonly<Record<string, unknown>>

/** What the idempotency table says at one moment. */
export interface RecordsSeen {
  /** Operations that have not ended, by `namespace status`. */
  readonly unfinished: ReadonlyMap<string, number>
  /** Operations that are completed, by namespace. */
  readonly completed: ReadonlyMap<string, number>
  /** Operations that have failed for good, by namespace. */
  readonly failed: ReadonlyMap<string, number>
  /** Messages of the outbox, by state. */
  readonly outbox: ReadonlyMap<string, number>
  /** How many receipts of a confirmed outcome each payment has. */
  readonly confirmedReceipts: readonly number[]
  /** How many receipts of the provider each payment has. */
  readonly destinationReceipts: readonly number[]
  /** Attempts that found the charge recorded, and did not make it again. */
  readonly stepsResumed: number
}

const ENDED: readonly unknown[] = ['COMPLETED', 'FAILED', 'RELEASED']

/** Reads the items of the idempotency table: records, and what lies beside them. */
export function readRecords(items: readonly StoredItem[]): RecordsSeen {
  const unfinished = new Map<string, number>()
  const completed = new Map<string, number>()
  const failed = new Map<string, number>()
  const outbox = new Map<string, number>()
  const receipts = new Map<string, StoredItem[]>()
  for (const item of items) {
    const [id, sk] = [String(item.pk), String(item.sk)]
    const namespace = id.split('#')[0] ?? ''
    if (sk === 'op') {
      if (!ENDED.includes(item.status)) addOne(unfinished, `${namespace} ${String(item.status)}`)
      if (item.status === 'COMPLETED') addOne(completed, namespace)
      if (item.status === 'FAILED') addOne(failed, namespace)
    }
    if (sk.startsWith('outbox#')) addOne(outbox, String(item.state))
    if (sk.startsWith('receipt#') && namespace === 'payments') receipts.set(id, [...(receipts.get(id) ?? []), item])
  }
  const each = [...receipts.values()]
  return {
    unfinished,
    completed,
    failed,
    outbox,
    confirmedReceipts: each.map((of) => ofKind(of, 'confirmed').length),
    destinationReceipts: each.map((of) => ofKind(of, 'destination').length),
    stepsResumed: each.reduce((sum, of) => {
      const [[confirmed], [charged]] = [ofKind(of, 'confirmed'), ofKind(of, 'destination')]
      return confirmed && charged ? sum + Number(confirmed.attempt) - Number(charged.attempt) : sum
    }, 0),
  }
}

/** What is still to be done, in words. */
export function leftToDo({ unfinished, outbox }: RecordsSeen): string[] {
  const unsent = [...outbox].filter(([state]) => state !== 'dispatched')
  return [
    ...[...unfinished].map(([what, count]) => `${count} × ${what}`),
    ...unsent.map(([state, count]) => `${count} × message ${state} in the outbox`),
  ]
}

function ofKind(receipts: readonly StoredItem[], kind: string): readonly StoredItem[] {
  return receipts.filter((receipt) => receipt.kind === kind)
}

function addOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
