import type { SQSRecord } from 'aws-lambda'
import type { OperationRequest } from '../core/execution.ts'
import { CONTINUATION_ATTRIBUTE, type Redrive } from '../core/redrive.ts'
import { MESSAGE_KEY_ATTRIBUTE, OPERATION_ATTRIBUTE } from '../outbox/message.ts'
import type { BatchSettings } from './options.ts'

/** SQS takes ten attributes in a message; three of a continuation are its own. */
const MAX_COPIED_ATTRIBUTES = 7

const OWN_ATTRIBUTES: readonly string[] = [CONTINUATION_ATTRIBUTE, MESSAGE_KEY_ATTRIBUTE, OPERATION_ATTRIBUTE]

/**
 * What a request is given so that its operation can be suspended and continued by a message: how to send the record
 * again, or why it cannot be.
 */
export function redriveOf<B>(
  { redrive }: BatchSettings<B>,
  raw: SQSRecord,
  key: string,
): Pick<OperationRequest, 'redrive' | 'mayNotSuspend'> {
  if (redrive === undefined) return {}
  const isFifo = redrive.queueUrl.endsWith('.fifo')
  if (isFifo && !redrive.allowReorder) {
    return {
      mayNotSuspend:
        'the queue is FIFO, where a message cannot be delayed and later ones overtake it. Say redrive: { queueUrl, allowReorder: true } when their order does not matter',
    }
  }
  const copied = Object.entries(raw.messageAttributes).flatMap(([name, { stringValue }]) =>
    stringValue === undefined || OWN_ATTRIBUTES.includes(name) ? [] : [[name, stringValue] as const],
  )
  if (copied.length > MAX_COPIED_ATTRIBUTES) {
    return {
      mayNotSuspend: `the message has ${copied.length} attributes of its own, and its continuation can carry ${MAX_COPIED_ATTRIBUTES}`,
    }
  }
  const attributes = { ...Object.fromEntries(copied), [MESSAGE_KEY_ATTRIBUTE]: key }
  const made: Redrive = {
    target: { queueUrl: redrive.queueUrl },
    payload: { body: raw.body, attributes },
    atClaim: false,
  }
  return { redrive: made }
}

/**
 * A message that continues an operation names it: whatever its key was made of, a message id for one, this delivery has
 * to find the same record again.
 */
export function continued(
  namespace: string,
  { messageAttributes }: SQSRecord,
): Pick<OperationRequest, 'id' | 'key' | 'continuationId'> | undefined {
  const [continuationId, key, id] = OWN_ATTRIBUTES.map((name) => messageAttributes[name]?.stringValue)
  if (continuationId === undefined || key === undefined || !id?.startsWith(`${namespace}#`)) return undefined
  return { id, key, continuationId }
}
