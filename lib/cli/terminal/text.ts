import { stripVTControlCharacters } from 'node:util'

/** What comes out of a table, made harmless: it must not move the cursor, recolour or overwrite what is shown. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[^\P{C}\n\t]/gu, '\u{FFFD}')
}

/** The same on one line. */
export function oneLine(text: string): string {
  return plain(text).replaceAll(/\s+/g, ' ').trim()
}

/** A moment as people read it, in UTC: whoever is called at night compares it with logs. */
export function moment(atMs: number, nowMs: number): string {
  const date = new Date(atMs)
  if (Number.isNaN(date.getTime())) return `${atMs} (no valid time)`
  const text = date
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z')
  return `${text} (${relative(atMs - nowMs)})`
}

/** A moment for machines; a number that is none stays a number. */
export function isoTime(atMs: number): string | number {
  const date = new Date(atMs)
  return Number.isNaN(date.getTime()) ? atMs : date.toISOString()
}

/** A time span from now. */
export function relative(differenceMs: number): string {
  const text = span(Math.abs(differenceMs))
  return differenceMs < 0 ? `${text} ago` : `in ${text}`
}

const UNITS: readonly (readonly [lengthMs: number, name: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
]

/** A length of time with two units at the most: "2 h 5 min". */
export function span(lengthMs: number): string {
  const at = UNITS.findIndex(([unitMs]) => lengthMs >= unitMs)
  if (at === -1) return `${Math.round(lengthMs)} ms`
  let restMs = lengthMs
  const parts = UNITS.slice(at, at + 2).flatMap(([unitMs, name]) => {
    const count = Math.floor(restMs / unitMs)
    restMs -= count * unitMs
    return count > 0 ? [`${count} ${name}`] : []
  })
  return parts.join(' ')
}

const BYTE_UNITS: readonly (readonly [size: number, name: string])[] = [
  [1_000_000, 'MB'],
  [1_000, 'KB'],
]

/** A size as people read it. */
export function size(bytes: number): string {
  const unit = BYTE_UNITS.find(([least]) => bytes >= least)
  return unit === undefined ? `${bytes} bytes` : `${(bytes / unit[0]).toFixed(1)} ${unit[1]}`
}

/** "1 step", "2 steps". */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en-US')} ${noun}${number === 1 ? '' : 's'}`
}
