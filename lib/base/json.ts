/**
 * What a JSON text says, as a value that is the same however it is written, or `undefined` where there is none that
 * would tell every two different texts apart: an object that names a member twice.
 *
 * Numbers count by value. Those that a double cannot hold, integers beyond 2^53 among them, are kept by their digits.
 *
 * @throws SyntaxError when it is no JSON, RangeError when it is nested too deeply to be walked through
 */
export function canonicalJson(text: string): unknown {
  let members = 0
  const form = parseWithSource(text, function (_name, value, { source }) {
    if (!Array.isArray(this)) members++
    if (typeof value === 'string') return `s${value}`
    return typeof value === 'number' && source !== undefined ? numberForm(value, source) : value
  })
  // The last call revives the whole value, as the member "" of an object that was never written.
  return members - 1 === membersWritten(text) ? form : undefined
}

/** The reviver's third argument (ES2026, in Node since 22) is not in TypeScript's library yet. */
const parseWithSource = JSON.parse as (
  text: string,
  reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown

function numberForm(value: number, source: string): number | string {
  const written = String(value)
  if (written === source) return value
  const digits = decimalDigits(source)
  return digits === decimalDigits(written) ? value : `n${digits}`
}

/** A decimal in one written form: its significant digits and the power of ten of the last one. */
function decimalDigits(source: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? []
  // An exponent that is not a safe integer itself is compared as it is written.
  if (exponent.length > 15) return source
  const written = (whole + fraction).replace(/^0+/, '')
  const significant = written.replace(/0+$/, '')
  if (significant === '') return '0'
  return `${sign}${significant}e${Number(exponent) - fraction.length + written.length - significant.length}`
}

/** How many members the objects of a valid JSON text have, repeated names included: one per colon outside strings. */
function membersWritten(text: string): number {
  let count = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const unit = text[at]
    if (unit === '"') inString = !inString
    else if (inString && unit === '\\') at++
    else if (!inString && unit === ':') count++
  }
  return count
}
