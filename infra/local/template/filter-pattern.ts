import { asArray, asObject, asString, UnsupportedTemplateError } from './narrow.ts'

/** What a field's value has to be; any one of a field's tests suffices. */
export type FilterTest =
  | { readonly kind: 'equals'; readonly value: string | number | boolean | null }
  | { readonly kind: 'prefix'; readonly prefix: string }
  | { readonly kind: 'anything-but'; readonly values: readonly (string | number)[] }
  | { readonly kind: 'exists'; readonly exists: boolean }

/** A filter of an event source mapping: every field it names has to pass. */
export interface FilterPattern {
  readonly [field: string]: FilterPattern | readonly FilterTest[]
}

/**
 * Reads a filter pattern (https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html).
 *
 * @throws UnsupportedTemplateError for an operator other than equality, prefix, anything-but and exists.
 */
export function parseFilterPattern(json: string, where: string): FilterPattern {
  let raw: unknown
  try {
    raw = JSON.parse(json)
  } catch {
    throw new UnsupportedTemplateError(`${where}: a filter pattern that is not JSON: ${json}`)
  }
  return parseFields(raw, `${where}: filter pattern`)
}

function parseFields(raw: unknown, where: string): FilterPattern {
  const fields = Object.entries(asObject(raw, where))
  if (fields.length === 0) throw new UnsupportedTemplateError(`${where}: names no field`)
  return Object.fromEntries(
    fields.map(([field, value]) => {
      const path = `${where} ${field}`
      if (field.startsWith('$')) throw new UnsupportedTemplateError(`${path}: the local runner does not know it`)
      return [field, Array.isArray(value) ? parseTests(value, path) : parseFields(value, path)]
    }),
  )
}

function parseTests(raw: readonly unknown[], where: string): FilterTest[] {
  if (raw.length === 0) throw new UnsupportedTemplateError(`${where}: an empty list matches nothing`)
  return raw.map((test) => parseTest(test, where))
}

function parseTest(raw: unknown, where: string): FilterTest {
  if (raw === null || ['string', 'number', 'boolean'].includes(typeof raw)) {
    return { kind: 'equals', value: raw as string | number | boolean | null }
  }
  const operators = Object.entries(asObject(raw, where))
  const [operator, argument] = operators[0] ?? []
  if (operators.length === 1) {
    if (operator === 'prefix') return { kind: 'prefix', prefix: asString(argument, `${where} prefix`) }
    if (operator === 'exists' && typeof argument === 'boolean') return { kind: 'exists', exists: argument }
    if (operator === 'anything-but') {
      return { kind: 'anything-but', values: parseExceptions(argument, `${where} anything-but`) }
    }
  }
  throw new UnsupportedTemplateError(
    `${where}: ${JSON.stringify(raw)}; the local runner has equality, prefix, anything-but and exists`,
  )
}

function parseExceptions(raw: unknown, where: string): (string | number)[] {
  const values = Array.isArray(raw) ? asArray(raw, where) : [raw]
  return values.map((value) => {
    if (typeof value === 'string' || typeof value === 'number') return value
    throw new UnsupportedTemplateError(`${where}: only texts and numbers, not ${JSON.stringify(value)}`)
  })
}
