import { InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'
import { type Key, type KeyInput, normalizeKey } from '../record/identity.ts'
import type { KeySelector } from './selector.ts'

/** What all of these selectors can look at. */
type Common<S extends readonly KeySelector<never>[]> = S[number] extends (event: infer E) => KeyInput ? E : never

/**
 * The key of the first selector that finds one.
 *
 * @example
 * key: firstOf(messageAttribute('order-id'), messageId())
 */
export function firstOf<S extends readonly KeySelector<never>[]>(...selectors: S): KeySelector<Common<S>> {
  const checked = selectorsOf<Common<S>>('firstOf', selectors)
  return (event) => {
    for (const select of checked) {
      const key = select(event)
      if (normalizeKey(key) !== undefined) return key
    }
    return undefined
  }
}

/**
 * One key of several parts; none when any part is missing.
 *
 * @example
 * key: allOf(header('x-shop'), body((order: Order) => order.id))
 */
export function allOf<S extends readonly KeySelector<never>[]>(...selectors: S): KeySelector<Common<S>> {
  const checked = selectorsOf<Common<S>>('allOf', selectors)
  return (event): KeyInput => {
    const parts: Key[] = []
    for (const select of checked) {
      const part = normalizeKey(select(event))
      if (part === undefined) return undefined
      parts.push(part)
    }
    // A part that is a list itself stays one part, or ["a", ["b", "c"]] would be ["a", "b", "c"].
    return parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part)))
  }
}

function selectorsOf<E>(of: string, selectors: readonly KeySelector<never>[]): readonly KeySelector<E>[] {
  const wrong = selectors.find((select) => typeof select !== 'function')
  // E is what every one of them takes.
  if (selectors.length > 0 && wrong === undefined) return selectors as readonly KeySelector<E>[]
  throw new InvalidOptionError(
    `${of} takes selectors, such as header('x-order-id') or messageId(); got ${selectors.length === 0 ? 'none' : show(wrong)}.`,
  )
}
