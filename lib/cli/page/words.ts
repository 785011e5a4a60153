import type { Row } from '../console/wire.ts'
import type { ShownValue } from '../operation/values.ts'
import type { Attempt } from '../watch/attempts.ts'
import type { HappeningKind, Told } from '../watch/happening.ts'

/** How something is to be taken: decides its colour, which never says more than the word beside it. */
export type Tone = 'good' | 'busy' | 'care' | 'bad' | 'calm'

interface Word {
  readonly sign: string
  readonly text: string
  readonly tone: Tone
}

const HAPPENINGS: Readonly<Record<HappeningKind, Word>> = {
  claimed: { sign: '●', text: 'claimed', tone: 'busy' },
  'step-begun': { sign: '◇', text: 'step begun', tone: 'busy' },
  'step-done': { sign: '◆', text: 'step done', tone: 'good' },
  'step-lost': { sign: '◆', text: 'step done, its result lost', tone: 'bad' },
  'taken-over': { sign: '▲', text: 'taken over', tone: 'care' },
  resumed: { sign: '▶', text: 'continued', tone: 'busy' },
  completed: { sign: '✓', text: 'completed', tone: 'good' },
  failed: { sign: '✗', text: 'failed for good', tone: 'bad' },
  resumable: { sign: '↻', text: 'given up for now', tone: 'care' },
  released: { sign: '○', text: 'released', tone: 'calm' },
  suspended: { sign: '‖', text: 'suspended', tone: 'busy' },
  signalled: { sign: '⚑', text: 'signal', tone: 'busy' },
  settled: { sign: '✓', text: 'settled by an operator', tone: 'good' },
  replayed: { sign: '↺', text: 'duplicate replayed', tone: 'good' },
  conflicted: { sign: '⊘', text: 'duplicate stopped', tone: 'good' },
  mismatched: { sign: '≠', text: 'other request refused', tone: 'care' },
  waiting: { sign: '⊘', text: 'delivery came while it waits', tone: 'calm' },
  unknown: { sign: '?', text: 'outcome unknown', tone: 'bad' },
  'lease-lost': { sign: '⊘', text: 'came too late: lease lost', tone: 'care' },
  'store-error': { sign: '!', text: 'store did not answer', tone: 'bad' },
  unprotected: { sign: '!', text: 'ran without protection', tone: 'bad' },
  rejected: { sign: '!', text: 'not started', tone: 'care' },
  'hook-failed': { sign: '!', text: 'an option threw', tone: 'bad' },
  killed: { sign: '†', text: 'worker killed', tone: 'bad' },
}

/** What has happened, in words, with how often. */
export function happeningWord({ kind, detail, times, attempt }: Told): Word {
  const { sign, text, tone } = HAPPENINGS[kind]
  const isStep = kind.startsWith('step-')
  const named = detail === undefined ? text : isStep ? text.replace('step', `step ${detail}`) : `${text}: ${detail}`
  const isBeginning = kind === 'taken-over' || kind === 'resumed'
  const counted = isBeginning && attempt !== undefined ? `${named}, attempt ${attempt}` : named
  return { sign, text: times > 1 ? `${counted} ×${times}` : counted, tone }
}

/** How an attempt has ended, in words. */
export function attemptEnd(end: Attempt['end']): string {
  switch (end) {
    case 'running':
    case 'without a word':
    case 'not known':
      return end
    default:
      return HAPPENINGS[end].text
  }
}

const TONES: Readonly<Record<string, Tone>> = {
  completed: 'good',
  running: 'busy',
  taken: 'busy',
  waiting: 'busy',
  stale: 'care',
  stopped: 'bad',
  retryable: 'care',
  unknown: 'bad',
  failed: 'bad',
  stuck: 'bad',
  overdue: 'bad',
  dispatched: 'good',
  pending: 'busy',
}

/** The tone of a state. */
export function toneOf(state: string): Tone {
  return TONES[state] ?? 'calm'
}

const SECOND = 1_000
const MINUTE = 60_000
const HOUR = 3_600_000
const DAY = 86_400_000

/** A length of time, short: "0.3 s", "12 s", "4 min", "2.5 h". */
export function span(ms: number): string {
  const length = Math.abs(ms)
  if (length < SECOND) return `${Math.round(length)} ms`
  if (length < 10 * SECOND) return `${(length / SECOND).toFixed(1)} s`
  if (length < 2 * MINUTE) return `${Math.round(length / SECOND)} s`
  if (length < 2 * HOUR) return `${Math.round(length / MINUTE)} min`
  if (length < 2 * DAY) return `${(length / HOUR).toFixed(1)} h`
  return `${Math.round(length / DAY)} d`
}

/** What is next for an operation, and when. */
export function nextOf({ standing }: Row, nowMs: number): string {
  switch (standing.kind) {
    case 'running':
    case 'taken':
      if (standing.untilMs === undefined) return 'no end of its lease'
      return standing.untilMs > nowMs ? `lease ends in ${seconds(standing.untilMs - nowMs)}` : 'lease just over'
    case 'stale':
    case 'stopped':
      return `lease over for ${seconds(nowMs - standing.sinceMs)}`
    case 'waiting':
      if (standing.resumeAtMs === undefined) return 'until a signal comes'
      return standing.resumeAtMs > nowMs
        ? `due in ${seconds(standing.resumeAtMs - nowMs)}`
        : `due for ${seconds(nowMs - standing.resumeAtMs)}`
    case 'retryable':
      return 'the next delivery continues it'
    case 'unknown':
      return standing.step === undefined ? 'crashed too often' : `step ${standing.step}`
    default:
      return ''
  }
}

/** A time that counts: tenths of a second would flicker. */
function seconds(ms: number): string {
  return ms < 2 * MINUTE ? `${Math.max(0, Math.round(ms / SECOND))} s` : span(ms)
}

const TIME = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const
const clock = new Intl.DateTimeFormat(undefined, TIME)
const dated = new Intl.DateTimeFormat(undefined, { ...TIME, year: 'numeric', month: 'short', day: 'numeric' })

/** A moment: the time alone where it is of today. */
export function moment(atMs: number, nowMs: number): string {
  if (Number.isNaN(new Date(atMs).getTime())) return `${atMs} (no valid time)`
  const isToday = new Date(atMs).toDateString() === new Date(nowMs).toDateString()
  return (isToday ? clock : dated).format(atMs)
}

/** How large a stored value is, and how it lies there. */
export function sizeText({ bytes, stored, parts }: ShownValue): string {
  const size =
    bytes < 1_000 ? `${bytes} bytes` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`
  return `${size}, ${stored === 'parts' ? `compressed, in ${parts} parts` : stored === 'brotli' ? 'compressed' : 'as text'}`
}

/** "1 operation", "2 operations". */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString()} ${noun}${number === 1 ? '' : 's'}`
}

/** An id short enough to read; the whole of it is never far. */
export function shortId(id: string): string {
  return `${id.split('#').at(-1)?.slice(0, 8)}…`
}

/** A moment for machines; `''` when it is none. */
export function iso(atMs: number): string {
  const date = new Date(atMs)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
