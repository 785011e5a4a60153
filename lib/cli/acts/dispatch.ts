import { type DispatchResult, dispatchOne } from '../../outbox/dispatch.ts'
import type { Sender } from '../../outbox/sender.ts'
import type { Store } from '../../record/store.ts'
import { messageOf, type StoredMessage } from '../operation/read.ts'
import { count, oneLine } from '../terminal/text.ts'

/** What somebody says who has messages sent. */
export function dispatchMeaning(messages: number): string {
  return `Dispatching sends ${count(messages, 'message')} as shown. Consumers that know their ids drop what they have had already.`
}

/** Sends a message only as it was shown: somebody may have sent it while the question stood there. */
export async function dispatchShown(
  store: Store,
  sender: Sender,
  id: string,
  shown: StoredMessage,
): Promise<DispatchResult> {
  const [item] = await store.listBeside(id, shown.item.sk)
  const now = item && messageOf(item)
  const isSame =
    now?.found.kind === 'entry' &&
    shown.found.kind === 'entry' &&
    now.found.entry.state === shown.found.entry.state &&
    now.stuckAtMs === shown.stuckAtMs
  if (item === undefined || !isSame) return { kind: 'overtaken' }
  return dispatchOne(store, sender, { ...item, id })
}

/** Why a message was not sent, in words; `undefined`: it was. */
export function whyNotSent(result: DispatchResult): string | undefined {
  switch (result.kind) {
    case 'dispatched':
      return undefined
    case 'stuck':
      return oneLine(result.reason)
    case 'overtaken':
      return 'somebody else was done with it first'
    case 'failed':
      return oneLine(
        result.error instanceof Error ? `${result.error.name}: ${result.error.message}` : String(result.error),
      )
  }
}
