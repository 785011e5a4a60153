import type { OutboxTarget } from '../../operation/commit-plan.ts'
import type { StoredMessage, StoredReceipt } from '../operation/read.ts'
import { troubleOf } from '../operation/search.ts'
import { shownValue, valueText } from '../operation/values.ts'
import type { Viewing } from '../operation/view.ts'
import { moment, oneLine } from '../terminal/text.ts'

/** Receipts as rows of a table. */
export function receiptRows(
  { store, showValues, nowMs }: Viewing,
  receipts: readonly StoredReceipt[],
): Promise<readonly string[][]> {
  return Promise.all(
    receipts.map(async ({ kind, atMs, attempt, step, value }) => [
      kind,
      moment(atMs, nowMs),
      String(attempt),
      step === undefined ? '' : oneLine(step),
      valueText(await shownValue(store, value, showValues)),
    ]),
  )
}

/** Messages as rows of a table. */
export function messageRows(
  { store, showValues, nowMs }: Viewing,
  messages: readonly StoredMessage[],
): Promise<readonly string[][]> {
  return Promise.all(
    messages.map(async (message) => {
      const { found, dispatchedAtMs, stuckAtMs, stuckReason } = message
      if (found.kind === 'unreadable') return ['unreadable', '', '', '', '']
      const { state, to, createdAtMs, body } = found.entry
      const sinceMs = dispatchedAtMs ?? stuckAtMs
      const trouble = troubleOf(message, nowMs)
      return [
        stuckReason === undefined || state !== 'stuck' ? (trouble ?? state) : `stuck: ${oneLine(stuckReason)}`,
        targetText(to),
        moment(createdAtMs, nowMs),
        sinceMs === undefined ? '' : moment(sinceMs, nowMs),
        valueText(await shownValue(store, body, showValues)),
      ]
    }),
  )
}

/** Where a message goes, in a few words. */
export function targetText(to: OutboxTarget): string {
  if ('queueUrl' in to) return oneLine(`queue ${to.queueUrl}`)
  if ('topicArn' in to) return oneLine(`topic ${to.topicArn}`)
  if ('functionName' in to) return oneLine(`function ${to.functionName}`)
  return oneLine(`event bus ${to.eventBusName} (${to.detailType})`)
}
