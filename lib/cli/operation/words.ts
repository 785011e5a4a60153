import type { OperationRecord } from '../../record/record.ts'
import type { Paint } from '../terminal/screen.ts'
import { moment, oneLine, relative } from '../terminal/text.ts'
import type { Standing } from './standing.ts'

/** One sentence that says how it stands. */
export function sentence(standing: Standing, nowMs: number): string {
  switch (standing.kind) {
    case 'running':
      return standing.untilMs === undefined
        ? 'It is running; its record names no end of the lease.'
        : `It is running; its lease ends ${moment(standing.untilMs, nowMs)}.`
    case 'taken':
      return standing.untilMs === undefined
        ? 'The key is taken.'
        : `The key is taken until ${moment(standing.untilMs, nowMs)}.`
    case 'stale':
      return `Nobody is working on it: its lease ended ${relative(standing.sinceMs - nowMs)}, without a word. The next delivery takes over.`
    case 'stopped':
      return `Its lease ended ${relative(standing.sinceMs - nowMs)}, without a word, and with takeover: 'never' nobody works on it until an operator decides.`
    case 'retryable':
      return `It was given up ${relative(standing.sinceMs - nowMs)}, to be continued by the next delivery.`
    case 'waiting':
      return waiting(standing, nowMs)
    case 'unknown':
      return `${unknown(standing)} It is not run again until somebody finds out.`
    case 'completed':
      return `It is completed; repetitions get the stored answer${protectedUntil(standing.untilMs, nowMs)}.`
    case 'failed':
      return `It failed for good; repetitions get the stored failure${protectedUntil(standing.untilMs, nowMs)}.`
    case 'released':
      return 'It was released: the next request with its key begins anew.'
    case 'expired':
      return 'Its time is over: the next request with its key begins anew.'
  }
}

function waiting(standing: Extract<Standing, { kind: 'waiting' }>, nowMs: number): string {
  const what = standing.for === undefined ? '' : ` for ${oneLine(standing.for)}`
  if (standing.resumeAtMs === undefined) return `It waits${what}, until a signal comes.`
  return standing.isDue
    ? `It waited${what} and is due since ${relative(standing.resumeAtMs - nowMs)}; the next delivery continues it.`
    : `It waits${what} until ${moment(standing.resumeAtMs, nowMs)}.`
}

function unknown({ step }: Extract<Standing, { kind: 'unknown' }>): string {
  return step === undefined
    ? 'It crashed too often, so that nobody knows what became of it.'
    : `Step "${oneLine(step)}" was begun, and nobody knows whether it happened.`
}

function protectedUntil(untilMs: number | undefined, nowMs: number): string {
  return untilMs === undefined ? ', for ever' : ` until ${moment(untilMs, nowMs)}`
}

/** What an operator can do about it, most likely first. Nothing: there is no need to. */
export function advice(record: OperationRecord, standing: Standing): readonly string[] {
  const { id } = record
  const command = (name: string, rest = '') => `lambda-once ${name} '${id}'${rest}`
  const redrive = record.redrive === undefined ? [] : [`${command('redrive')}   deliver its stored request again now`]
  switch (standing.kind) {
    case 'stale':
    case 'retryable':
      return redrive.length > 0
        ? redrive
        : ['Nothing is stored to deliver again: repeat the request, or let its queue redeliver.']
    case 'waiting':
      return standing.isDue ? redrive : [`${command('resume')}   stop waiting: the next delivery continues it`]
    case 'stopped':
    case 'unknown': {
      const what = standing.kind === 'unknown' && standing.step !== undefined ? 'the effect' : 'it'
      return [
        `${command('settle', " --value '<json>'")}   ${what} happened: this is the answer`,
        `${command('settle', " --error '<why>'")}   it failed for good`,
        `${command('resume')}   nothing happened that must not happen again: run it`,
      ]
    }
    case 'failed':
      return [`${command('release')}   nothing happened: forget the failure, so that a repetition runs`]
    case 'running':
    case 'taken':
    case 'completed':
    case 'released':
    case 'expired':
      return []
  }
}

/** The state as one coloured word. */
export function word(standing: Standing, paint: Paint): string {
  switch (standing.kind) {
    case 'running':
    case 'taken':
      return paint.cyan(standing.kind)
    case 'completed':
      return paint.green(standing.kind)
    case 'waiting':
      return standing.isDue ? paint.yellow('due') : paint.cyan('waiting')
    case 'stale':
    case 'retryable':
      return paint.yellow(standing.kind)
    case 'stopped':
    case 'unknown':
    case 'failed':
      return paint.red(standing.kind)
    case 'released':
    case 'expired':
      return paint.dim(standing.kind)
  }
}
