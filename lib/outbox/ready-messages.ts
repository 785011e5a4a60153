import { InvalidInputError, InvalidOptionError } from '../base/errors.ts'
import { refuseUnknown, show } from '../base/guards.ts'
import type { OutboxMessage } from '../operation/commit-plan.ts'
import { hashOfParts } from '../record/identity.ts'
import {
  CONTINUATION_ATTRIBUTE,
  isFifo,
  LIMIT_BYTES,
  MESSAGE_KEY_ATTRIBUTE,
  OPERATION_ATTRIBUTE,
  RESERVED_BYTES,
  type ReadyMessage,
} from './message.ts'

const OWN_ATTRIBUTES: readonly string[] = [MESSAGE_KEY_ATTRIBUTE, OPERATION_ATTRIBUTE, CONTINUATION_ATTRIBUTE]
/** SQS takes ten attributes; two are the message's own. */
const MAX_ATTRIBUTES = 8
const MAX_DELAY_SECONDS = 900

/** What SQS and SNS refuse in a body. https://www.w3.org/TR/REC-xml/#charsets */
const NO_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u

/**
 * Checks the messages of a commit. Each gets an id of its own, made of the operation, the committing token and its
 * name: two messages of one commit must not look like duplicates of each other.
 *
 * @throws InvalidInputError, InvalidOptionError naming the message and what is wrong with it
 */
export function readyMessages(
  { id, token }: { readonly id: string; readonly token: string },
  messages: readonly OutboxMessage[],
): readonly ReadyMessage[] {
  const names = new Set<string>()
  return messages.map((message, index) => {
    const at = `messages[${index}]`
    if (typeof message !== 'object' || message === null) {
      throw new InvalidOptionError(`${at} must be { to, body }; got ${show(message)}.`)
    }
    refuseUnknown(at, message, ['to', 'body', 'name', 'attributes', 'groupId', 'delaySeconds'])
    const name = message.name ?? String(index)
    if (typeof name !== 'string' || names.has(name)) {
      throw new InvalidOptionError(`${at}.name must be a string that no other message has; got ${show(name)}.`)
    }
    names.add(name)
    const kind = kindOf(at, message.to)
    const ready: ReadyMessage = {
      messageId: hashOfParts([id, token, name]),
      to: message.to,
      text: textOf(at, kind, message.body),
      attributes: attributesOf(at, kind, message.attributes),
      groupId: groupOf(at, message) ?? (isFifo(message.to) ? id : undefined),
      delaySeconds: delayOf(at, message),
    }
    const attributes = Object.entries(ready.attributes).flat().join('')
    const bytes = Buffer.byteLength(ready.text) + Buffer.byteLength(attributes) + RESERVED_BYTES
    if (bytes > LIMIT_BYTES[kind]) {
      throw new InvalidInputError(
        `${at} has ${bytes} bytes with its attributes; its target takes ${LIMIT_BYTES[kind]}. Store the content and send a reference.`,
      )
    }
    return ready
  })
}

function kindOf(at: string, to: unknown): keyof typeof LIMIT_BYTES {
  const kinds = Object.keys(LIMIT_BYTES) as (keyof typeof LIMIT_BYTES)[]
  const given = kinds.filter((kind) => typeof to === 'object' && to !== null && Object.hasOwn(to, kind))
  const [kind] = given
  const value: unknown = kind && Reflect.get(Object(to), kind)
  if (kind === undefined || given.length > 1 || typeof value !== 'string' || value === '') {
    throw new InvalidOptionError(
      `${at}.to must be one of { queueUrl }, { topicArn }, { eventBusName, source, detailType } or { functionName }; got ${show(to)}.`,
    )
  }
  for (const field of kind === 'eventBusName' ? ['source', 'detailType'] : []) {
    const given: unknown = Reflect.get(Object(to), field)
    if (typeof given !== 'string' || given === '' || (field === 'source' && given.startsWith('aws.'))) {
      throw new InvalidOptionError(
        `${at}.to.${field} must be a string that is not empty${field === 'source' ? ' and does not begin with "aws."' : ''}; got ${show(given)}.`,
      )
    }
  }
  return kind
}

function textOf(at: string, kind: keyof typeof LIMIT_BYTES, body: unknown): string {
  const text = typeof body === 'string' ? body : jsonOf(body)
  if (typeof text !== 'string' || text === '') {
    throw new InvalidInputError(
      `${at}.body must be a string that is not empty, or a value with JSON; got ${show(body)}.`,
    )
  }
  if (NO_XML.test(text)) throw new InvalidInputError(`${at}.body contains a character that no queue or topic takes.`)
  if (kind === 'functionName' || kind === 'eventBusName') checkJson(at, kind, text)
  return text
}

/** `undefined`: it has no JSON. */
function jsonOf(value: unknown): unknown {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** A function's event is JSON; an event's detail is an object, and the ids of the message go under its `metadata`. */
function checkJson(at: string, kind: 'functionName' | 'eventBusName', text: string): void {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new InvalidInputError(`${at}.body must be JSON for this target; got ${show(text)}.`)
  }
  if (kind === 'functionName') return
  if (!isPlainObject(value) || (value.metadata !== undefined && !isPlainObject(value.metadata))) {
    throw new InvalidInputError(
      `${at}.body must be an object for an event bus, and its metadata, which the ids of the message are added to, too; got ${show(value)}.`,
    )
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function groupOf(at: string, { groupId, to }: OutboxMessage): string | undefined {
  if (groupId === undefined) return undefined
  if (!isFifo(to)) throw new InvalidOptionError(`${at}.groupId: only FIFO queues and topics have message groups.`)
  if (typeof groupId === 'string' && /^[\x21-\x7e]{1,128}$/.test(groupId)) return groupId
  throw new InvalidOptionError(
    `${at}.groupId must be 1 to 128 letters, digits or punctuation marks; got ${show(groupId)}.`,
  )
}

function attributesOf(
  at: string,
  kind: keyof typeof LIMIT_BYTES,
  attributes: unknown,
): Readonly<Record<string, string>> {
  if (attributes === undefined) return {}
  if (kind === 'functionName' || kind === 'eventBusName') {
    throw new InvalidOptionError(
      `${at}.attributes: only queues and topics have them; put what is needed into the body.`,
    )
  }
  const entries = Object.entries(Object(attributes))
  const wrong = entries.find(
    ([name, value]) => !isAttributeName(name) || typeof value !== 'string' || value === '' || NO_XML.test(value),
  )
  if (wrong !== undefined || entries.length > MAX_ATTRIBUTES) {
    throw new InvalidOptionError(
      `${at}.attributes must be at most ${MAX_ATTRIBUTES} strings that are not empty, under names of letters, digits, "_", "-" and ".", none of them ${OWN_ATTRIBUTES.join(', ')}, which are the message's own; got ${wrong === undefined ? entries.length : `"${wrong[0]}": ${show(wrong[1])}`}.`,
    )
  }
  return Object.fromEntries(entries) as Record<string, string>
}

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html */
function isAttributeName(name: string): boolean {
  const isOwn = OWN_ATTRIBUTES.some((own) => own.toLowerCase() === name.toLowerCase())
  // The SDK reads no item that has a field named "__proto__".
  return (
    !isOwn &&
    name !== '__proto__' &&
    name.length <= 256 &&
    /^[\w-]+(\.[\w-]+)*$/.test(name) &&
    !/^(aws|amazon)\./i.test(name)
  )
}

function delayOf(at: string, { delaySeconds, to }: OutboxMessage): number {
  if (delaySeconds === undefined) return 0
  if (typeof delaySeconds !== 'number' || !(delaySeconds >= 0 && delaySeconds <= MAX_DELAY_SECONDS)) {
    throw new InvalidOptionError(
      `${at}.delaySeconds must be a number of seconds from 0 to ${MAX_DELAY_SECONDS}; got ${show(delaySeconds)}.`,
    )
  }
  if (delaySeconds > 0 && (!('queueUrl' in to) || isFifo(to))) {
    throw new InvalidOptionError(`${at}.delaySeconds: only a standard queue can hold a message back.`)
  }
  return delaySeconds
}
