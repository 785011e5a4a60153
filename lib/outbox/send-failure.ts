import type { SendResult } from './outgoing.ts'

/**
 * What says that a target will never take a message as it is, in the words of all services, without the prefixes and
 * suffixes of their protocols. Everything else may pass: it is tried again.
 */
const REFUSALS: readonly string[] = [
  'QueueDoesNotExist',
  'NonExistentQueue',
  'NotFound',
  'ResourceNotFound',
  'InvalidAddress',
  'InvalidMessageContents',
  'InvalidAttributeName',
  'InvalidAttributeValue',
  'InvalidParameter',
  'InvalidParameterValue',
  'InvalidParameterCombination',
  'InvalidArgument',
  'InvalidAccountId',
  'InvalidRequestContent',
  'MalformedDetail',
  'MissingParameter',
  'Validation',
  'UnsupportedMediaType',
  'UnsupportedOperation',
  'BatchRequestTooLong',
  'MessageTooLong',
  'RequestTooLarge',
]

/**
 * The sender's fault too, by the services' count, but one that an operator puts right: a missing permission, a key
 * that was disabled, credentials that ran out, a limit.
 */
const MAY_BE_PUT_RIGHT = /access.?denied|authori[sz]|security|token|signature|expired|kms|throttl|limit|optin/i

/** What the failure of a whole call means for its only message. */
export function resultOfError(error: unknown): SendResult {
  const reason = errorName(error)
  return isRefusal(reason) ? { kind: 'refused', reason } : { kind: 'failed', error }
}

/** What the failure of one message of a batch means. */
export function resultOfEntry(failure: {
  readonly code: string | undefined
  readonly message: string | undefined
  readonly isSendersFault: boolean | undefined
}): SendResult {
  const { code = 'UnknownError', message = 'The service gave no reason.', isSendersFault = false } = failure
  if (isRefusal(code) || (isSendersFault && !MAY_BE_PUT_RIGHT.test(code))) return { kind: 'refused', reason: code }
  const error = new Error(message)
  error.name = code
  return { kind: 'failed', error }
}

/** What it means that an answer came, and not for this message. */
export function unanswered(): SendResult {
  return { kind: 'failed', error: new Error('It was not said what became of the message.') }
}

/** The name under which an error is stored and reported: no message, which may quote what was sent. */
export function errorName(error: unknown): string {
  return error instanceof Error && error.name !== '' ? error.name : 'UnknownError'
}

function isRefusal(code: string): boolean {
  return REFUSALS.includes(code.replace(/^.*[.#]/, '').replace(/(Exception|Error)$/, ''))
}
