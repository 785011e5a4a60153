import type { SQSRecord } from 'aws-lambda'

/** How an invocation ended. */
export type InvocationEnd =
  | { readonly kind: 'answered'; readonly answer: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }

/**
 * The messages that the queue will deliver again: what Lambda makes of the end of an invocation with
 * `ReportBatchItemFailures` (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html).
 * Nothing at all means that all is well; an answer that names what is not in the batch fails the batch.
 */
export function failedOf(records: readonly SQSRecord[], end: InvocationEnd): readonly SQSRecord[] {
  if (end.kind === 'threw') return records
  const { answer } = end
  if (answer === undefined || answer === null || answer === '') return []
  if (typeof answer !== 'object' || Array.isArray(answer)) return records
  const failures: unknown = Reflect.get(answer, 'batchItemFailures')
  if (failures === undefined || failures === null) return []
  if (!Array.isArray(failures)) return records
  const named = new Set(failures.map((failure: unknown) => Object(failure).itemIdentifier as unknown))
  const known = new Set<unknown>(records.map(({ messageId }) => messageId).filter((id) => id !== ''))
  return [...named].every((id) => known.has(id)) ? records.filter(({ messageId }) => named.has(messageId)) : records
}
