import { InvalidKeyError, InvalidOptionError } from '../base/errors.ts'
import { refusePromise, show } from '../base/guards.ts'
import { pathsOf, type SchemaIssue, type StandardSchema } from '../base/schema.ts'
import type { KeyInput } from '../record/identity.ts'
import { fieldsOf } from '../sources/fields.ts'
import type { KeySelector } from './selector.ts'

/** What has a body: a record of a batch, whose body is parsed, or an HTTP request, whose body is a text. */
export interface WithBody<B> {
  readonly body?: B | string | null | undefined
  readonly isBase64Encoded?: boolean
}

/**
 * The key that is in the body, found by a function, or made by a schema of any library that follows Standard Schema.
 * Of an HTTP request the body is decoded and parsed as JSON first, of a copy: the event stays as it is.
 *
 * @example
 * key: body((order: Order) => order.id)
 * keyFrom: body(v.pipe(v.object({ orderId: v.string() }), v.transform(({ orderId }) => orderId)))
 *
 * @throws InvalidOptionError when it is neither; the selector throws InvalidKeyError when the body is no JSON or does
 * not match the schema
 */
export function body<B>(select: (body: B) => KeyInput): KeySelector<WithBody<B>>
export function body<B>(schema: StandardSchema<KeyInput>): KeySelector<WithBody<B>>
export function body<B>(from: StandardSchema<KeyInput> | ((body: B) => KeyInput)): KeySelector<WithBody<B>> {
  const select = typeof from === 'function' ? from : schemaSelector(from)
  return (event) => {
    const parsed = parsedBody(event)
    if (parsed === undefined || parsed === null) return undefined
    try {
      // The type is what the user says of the body.
      return select(parsed as B)
    } catch (error) {
      if (error instanceof TypeError) {
        throw new InvalidKeyError('The body does not have the form in which the key is looked for.')
      }
      throw error
    }
  }
}

function schemaSelector(schema: StandardSchema<KeyInput>): (body: unknown) => KeyInput {
  if (typeof schema?.['~standard']?.validate !== 'function') {
    throw new InvalidOptionError(
      `body(…) takes a function, such as (order) => order.id, or a schema that follows Standard Schema; got ${show(schema)}.`,
    )
  }
  return (parsed) => {
    const result = schema['~standard'].validate(parsed)
    refusePromise('body(schema)', [result])
    const { issues, value } = result as { readonly issues?: readonly SchemaIssue[]; readonly value: KeyInput }
    if (issues === undefined) return value
    throw new InvalidKeyError(`The body does not match the schema of the key at ${pathsOf(issues)}.`)
  }
}

/** @throws InvalidKeyError when the body is a text, and no JSON */
export function parsedBody(event: WithBody<unknown>): unknown {
  const { body: given, isBase64Encoded } = fieldsOf(event)
  if (typeof given !== 'string') return given
  if (given === '') return undefined
  const text = isBase64Encoded === true ? Buffer.from(given, 'base64').toString('utf8') : given
  try {
    return parseWithSource(text, (_name, value, { source }) => exact(value, source))
  } catch {
    throw new InvalidKeyError('The body is no JSON, so there is no key in it.')
  }
}

/** An integer beyond 2^53 by all its digits: as a number it would be the key of its neighbours, too. */
function exact(value: unknown, source: string | undefined): unknown {
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value)
  return isRounded && source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value
}

/** The reviver's third argument (ES2026, in Node since 22) is not in TypeScript's library yet. */
const parseWithSource = JSON.parse as (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown
