import { isLambdaOnceError } from '../../base/errors.ts'
import type { InvocationResult } from '../explorer/invocation.ts'
import type { Fault, Point, Schedule } from '../explorer/schedules.ts'
import type { Run } from '../explorer/sequence.ts'
import type { Death } from '../world/sandbox.ts'
import type { Finding } from './judge.ts'

/** The faults of a schedule: what went wrong, and where, seen from the run that it was made of. */
export function wordsForSchedule(schedule: Schedule, { trace }: { readonly trace: readonly Point[] }): string {
  return [...schedule].map(([index, fault]) => wordsForFault(fault, trace[index], trace[index + 1])).join(', then ')
}

function wordsForFault(fault: Fault, point: Point | undefined, next: Point | undefined): string {
  const what = point?.what ?? 'the end'
  switch (fault) {
    case 'crash':
      return `crash after ${what}${next?.delivery === point?.delivery && next ? `, before ${next.what}` : ''}`
    case 'answer-lost':
      return `${what} done and its answer lost`
    case 'unreachable':
      return `the store out of reach from ${what} on`
    case 'overlap':
      return `a second delivery while the first one is just behind ${what}`
  }
}

/** What is wrong, in one sentence. */
export function wordsForFinding({ name, of, expected, intended, happened }: Finding): string {
  const effect = of === '' ? `"${name}"` : `"${name}" of "${of}"`
  const limit = { once: '', 'at-most-once': 'at most ', 'at-least-once': 'at least ' }[expected]
  const reason = intended === 1 ? '' : ', as in one undisturbed delivery'
  return `${effect} ${happened === 0 ? 'never happened' : `happened ${times(happened)}`}, expected ${limit}${times(intended)}${reason}.`
}

function times(count: number): string {
  if (count === 0) return 'never'
  return count === 1 ? 'once' : `${count} times`
}

/** What happened, a line for each delivery. */
export function wordsForRun({ results, trace }: Run): readonly string[] {
  return results.map((result, index) => {
    const points = trace.filter(({ delivery }) => delivery === index + 1)
    const met = points.map(({ what, fault }) =>
      fault === undefined || fault === 'crash' ? what : `${what} (${NOTES[fault]})`,
    )
    return `delivery ${index + 1}: ${[...met, wordsForResult(result)].join('; ')}`
  })
}

const NOTES = {
  'answer-lost': 'its answer lost',
  unreachable: 'never arrived, nor does anything else',
  overlap: 'here the next delivery begins',
} as const

const DEATHS: Readonly<Record<Death, string>> = {
  crash: 'crash',
  'timed-out': 'killed at its time-out',
  endless: 'goes on without an end',
  stuck: 'stuck',
}

/** How a delivery ended. */
export function wordsForResult(result: InvocationResult): string {
  switch (result.kind) {
    case 'died':
      return DEATHS[result.of]
    case 'threw':
      return `threw ${wordsForError(result.error)}`
    case 'answered':
      return wordsForAnswer(result.answer)
  }
}

export function wordsForError(error: unknown): string {
  if (!(error instanceof Error) && !isLambdaOnceError(error)) return String(error)
  return `${error.name}: ${error.message}`
}

function wordsForAnswer(answer: unknown): string {
  const { statusCode, batchItemFailures } = Object(answer) as { statusCode?: unknown; batchItemFailures?: unknown }
  if (statusCode !== undefined) return `answered ${statusCode}`
  if (Array.isArray(batchItemFailures)) {
    const ids = batchItemFailures.map((failure: unknown) => Object(failure).itemIdentifier as unknown)
    return ids.length === 0 ? 'all messages done' : `failed: message ${ids.join(', ')}`
  }
  return `answered ${short(answer)}`
}

/** A value, as far as it fits into a line. */
export function short(value: unknown): string {
  let text: string
  try {
    text = JSON.stringify(value) ?? String(value)
  } catch {
    text = String(value)
  }
  return text.length > 300 ? `${text.slice(0, 297)}…` : text
}
