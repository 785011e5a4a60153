import type { SQSRecord } from 'aws-lambda'
import { sendable } from '../engine/redrive.ts'
import type { OperationRequest } from '../engine/request.ts'
import { CONTINUATION_ATTRIBUTE, MESSAGE_KEY_ATTRIBUTE, OPERATION_ATTRIBUTE } from '../outbox/message.ts'
import { nonEmpty } from '../sources/fields.ts'
import type { RedriveOption } from './sources/source.ts'

/** SQS takes ten attributes in a message; three of a continuation are its own. */
const MAX_COPIED_ATTRIBUTES = 7

const OWN_ATTRIBUTES: readonly string[] = [CONTINUATION_ATTRIBUTE, MESSAGE_KEY_ATTRIBUTE, OPERATION_ATTRIBUTE]

/**
 * What a request is given so that its operation can be suspended and continued by a message: how to send the record
 * again, or why it cannot be.
 */
export function redriveOf(
  redrive: RedriveOption | undefined,
  raw: SQSRecord,
  key: string,
): Pick<OperationRequest, 'redrive' | 'mayNotSuspend'> {
  const isFifo = raw.eventSourceARN.endsWith('.fifo') || redrive?.queueUrl.endsWith('.fifo')
  if (isFifo && !redrive?.allowReorder) {
    return {
      mayNotSuspend:
        'the queue is FIFO, where a message cannot be delayed and later ones overtake it. Say redrive: { queueUrl, allowReorder: true } when their order does not matter',
    }
  }
  if (redrive === undefined) return {}
  const others = Object.entries(raw.messageAttributes).filter(([name]) => !OWN_ATTRIBUTES.includes(name))
  const copied = others.flatMap(([name, attribute]) => {
    const text: unknown = attribute?.stringValue
    return typeof text === 'string' ? [[name, text]] : []
  })
  if (copied.length < others.length) {
    return { mayNotSuspend: 'the message has a binary attribute, and its continuation can carry only texts' }
  }
  if (copied.length > MAX_COPIED_ATTRIBUTES) {
    return {
      mayNotSuspend: `the message has ${copied.length} attributes of its own, and its continuation can carry ${MAX_COPIED_ATTRIBUTES}`,
    }
  }
  const attributes = { ...Object.fromEntries(copied), [MESSAGE_KEY_ATTRIBUTE]: key }
  return sendable({ target: { queueUrl: redrive.queueUrl }, payload: { body: raw.body, attributes }, atClaim: false })
}

/**
 * A message that continues an operation names it: whatever its key was made of, a message id for one, this delivery has
 * to find the same record again.
 */
export function continued(
  namespace: string,
  { messageAttributes }: SQSRecord,
): Pick<OperationRequest, 'id' | 'key' | 'continuationId'> | undefined {
  const [continuationId, key, id] = OWN_ATTRIBUTES.map((name) => nonEmpty(messageAttributes[name]?.stringValue))
  if (continuationId === undefined || key === undefined || !id?.startsWith(`${namespace}#`)) return undefined
  return { id, key, continuationId }
}
