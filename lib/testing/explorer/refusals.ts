import { short, wordsForError, wordsForResult, wordsForRun, wordsForSchedule } from '../findings/words.ts'
import { COMMIT } from '../world/ledger.ts'
import { UnverifiableError } from './errors.ts'
import type { InvocationResult } from './invocation.ts'
import type { VerifySettings } from './options.ts'
import type { Run } from './sequence.ts'

/** @throws UnverifiableError when a handler neither ends nor goes wrong in a way that could be judged. */
export function refuseEndless(run: Run, from: Run, { timeoutSeconds, patienceMs }: VerifySettings): void {
  if (run.misuse !== undefined) throw new UnverifiableError(run.misuse.message, { cause: run.misuse })
  const last = run.results.at(-1)
  if (last?.kind !== 'died' || last.of === 'crash') return
  const when = run.schedule.size === 0 ? '' : ` (${wordsForSchedule(run.schedule, from)})`
  const behind = run.trace.at(-1)
  const where = behind === undefined ? 'before it has done anything' : `after ${behind.what}`
  switch (last.of) {
    case 'stuck':
      throw new UnverifiableError(
        `The handler never settles${when}: it waits ${where}, and for ${patienceMs / 1000} s nothing has happened. Await nothing real in it, or allow more patienceSeconds.`,
      )
    case 'endless':
      throw new UnverifiableError(`The handler never settles${when}: it goes on for ever ${where}.`)
    case 'timed-out':
      throw new UnverifiableError(
        `The handler does not end within its ${timeoutSeconds} s${when}: it is killed ${where}. Raise timeoutSeconds if it has more.`,
      )
  }
}

/** @throws UnverifiableError when the handler has nothing to be verified, or does not work without any fault. */
export function refuseUnverifiable(run: Run, { expectations }: VerifySettings): void {
  const last = run.results.at(-1)
  const came = last === undefined ? '' : whatCame(last)
  if (last !== undefined && failsByItself(last)) {
    throw new UnverifiableError(`The handler fails without any fault: it ${came}.\n${list(run)}`, {
      ...(last.kind === 'threw' && { cause: last.error }),
    })
  }
  if (run.records.length === 0) {
    throw new UnverifiableError(
      `No operation was claimed: the handler ${came}. Build it with the world's idempotency, and give the event what the key is made of (an idempotency key, a message id) and a method that is protected.`,
    )
  }
  const happened = [...run.counts].filter(([, counts]) => [...counts.values()].some((count) => count > 0))
  const names = new Set(happened.map(([name]) => name))
  if (names.size === 0) {
    throw new UnverifiableError(
      `There is nothing to verify: no effect happened; the handler ${came}. Call effect(name) where the handler charges, mails or writes, or use operation.commit(…).`,
    )
  }
  for (const name of expectations.keys()) {
    if (names.has(name)) continue
    throw new UnverifiableError(
      `effects names "${name}", which never happens${name === COMMIT ? '' : ': call effect(…) for it'}. What happens: ${[...names].map((one) => `"${one}"`).join(', ')}.`,
    )
  }
}

/** @throws UnverifiableError when the deliveries change something for ever. */
export function refuseRestless(run: Run, from: Run): void {
  if (run.isAtRest) return
  const when = run.schedule.size === 0 ? 'without any fault' : `(${wordsForSchedule(run.schedule, from)})`
  throw new UnverifiableError(
    `The handler is never done: after ${run.results.length} deliveries ${when} each one still changes something.\n${list(run)}`,
  )
}

function whatCame(last: InvocationResult): string {
  if (last.kind === 'threw') return `threw ${wordsForError(last.error).replace(/\.$/, '')}`
  const body: unknown = last.kind === 'answered' ? Object(last.answer).body : undefined
  return wordsForResult(last) + (body === undefined ? '' : ` with ${short(body)}`)
}

function failsByItself(last: InvocationResult): boolean {
  if (last.kind !== 'answered') return true
  const { statusCode, batchItemFailures } = Object(last.answer) as { statusCode?: unknown; batchItemFailures?: unknown }
  if (Array.isArray(batchItemFailures) && batchItemFailures.length > 0) return true
  return typeof statusCode === 'number' && statusCode >= 500
}

function list(run: Run): string {
  return wordsForRun(run)
    .map((line) => `  ${line}`)
    .join('\n')
}
