/** A JSON object nobody has looked into yet. */
export type JsonObject = { readonly [key: string]: unknown }

/** A template that the local runner cannot run as it stands; the message names the resource and what to change. */
export class UnsupportedTemplateError extends Error {
  override readonly name = 'UnsupportedTemplateError'
}

/** Narrows to an object. @throws UnsupportedTemplateError naming `where`. */
export function asObject(value: unknown, where: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw expected('an object', value, where)
}

/** Narrows to an array. @throws UnsupportedTemplateError naming `where`. */
export function asArray(value: unknown, where: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw expected('a list', value, where)
}

/** Narrows to a string. @throws UnsupportedTemplateError naming `where`. */
export function asString(value: unknown, where: string): string {
  if (typeof value === 'string') return value
  throw expected('a string', value, where)
}

/** Narrows to a number, also when CloudFormation wrote it as a string. @throws UnsupportedTemplateError naming `where`. */
export function asNumber(value: unknown, where: string): number {
  if (typeof value === 'number') return value
  if (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value)
  throw expected('a number', value, where)
}

/** Like {@link asNumber}, with a default for an absent value. */
export function asNumberOr(value: unknown, otherwise: number, where: string): number {
  return value === undefined ? otherwise : asNumber(value, where)
}

/** Like {@link asString}, with undefined for an absent value. */
export function asOptionalString(value: unknown, where: string): string | undefined {
  return value === undefined ? undefined : asString(value, where)
}

function expected(what: string, value: unknown, where: string): UnsupportedTemplateError {
  return new UnsupportedTemplateError(`${where}: expected ${what}, got ${JSON.stringify(value)}`)
}
