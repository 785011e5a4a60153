/** A new item of the outbox, and its place in the event. */
export interface Place<I> {
  readonly index: number
  readonly item: I
}

interface Ordered {
  readonly id: string
  readonly sk: string
}

/**
 * One lane for each operation, in the order in which its messages are to be sent: that of the event, and within one
 * commit that of its list. DynamoDB promises no order among the items of a transaction, but their sort keys have one.
 */
export function lanesOf<I extends Ordered>(items: readonly I[]): Place<I>[][] {
  const places = items.map((item, index): Place<I> => ({ index, item }))
  const operations = Map.groupBy(places, ({ item }) => item.id)
  return [...operations.values()].map((lane) => {
    const commits = Map.groupBy(lane, ({ item }) => commitOf(item.sk))
    return [...commits.values()].flatMap((commit) => commit.toSorted(byPosition))
  })
}

/** Whatever comes before the position: the prefix and the committing token. */
function commitOf(sk: string): string {
  return sk.slice(0, sk.lastIndexOf('#'))
}

/** Positions are written with leading zeros, so they sort as text. */
function byPosition<I extends Ordered>(a: Place<I>, b: Place<I>): number {
  return a.item.sk < b.item.sk ? -1 : 1
}
