import type { Expectation } from '../explorer/options.ts'
import type { Counts, EffectCall } from '../world/ledger.ts'

/** An effect that happened too often, or not often enough. */
export interface Finding {
  readonly name: string
  readonly of: string
  readonly expected: Expectation
  /** How often it happens in one undisturbed delivery. */
  readonly intended: number
  readonly happened: number
}

/** The first effect that is not as expected, where that is known; one that happened too often before a missing one. */
export function judge(
  intended: Counts | undefined,
  counts: Counts,
  expectations: ReadonlyMap<string, Expectation>,
): Finding | undefined {
  if (intended === undefined) return undefined
  const findings: Finding[] = []
  for (const name of new Set([...intended.keys(), ...counts.keys()])) {
    const expected = expectations.get(name) ?? 'once'
    const wanted = intended.get(name)
    const found = counts.get(name)
    for (const of of new Set([...(wanted?.keys() ?? []), ...(found?.keys() ?? [])])) {
      const finding = { name, of, expected, intended: wanted?.get(of) ?? 0, happened: found?.get(of) ?? 0 }
      if (!isAsExpected(finding)) findings.push(finding)
    }
  }
  return findings.find(isTooOften) ?? findings[0]
}

function isAsExpected({ expected, intended, happened }: Finding): boolean {
  if (expected === 'at-most-once') return happened <= intended
  return expected === 'at-least-once' ? happened >= intended : happened === intended
}

export function isTooOften({ happened, intended }: Finding): boolean {
  return happened > intended
}

/** What made an effect happen too often. */
export type Cause =
  /** It is made of a commit, or of several operations of one event. */
  | 'several-operations'
  /** It is made in every delivery, that of a finished operation included. */
  | 'before-claim'
  /** It is not in a step. */
  | 'bare'
  /** It is in a step, and the third party is given no key. */
  | 'no-key'
  /** It is in a step that stops when its outcome is unknown, and happens several times in one run of it. */
  | 'within-step'
  /** It is given other keys by other attempts. */
  | 'other-keys'

export function causeOf(
  { name, of }: Finding,
  calls: readonly EffectCall[],
  facts: { readonly hasFault: boolean; readonly operations: number; readonly intendedOperations: number },
): Cause {
  const counted = calls.filter((call) => call.name === name && call.of === of && call.isCounted)
  if (facts.operations > facts.intendedOperations) return 'several-operations'
  if (!facts.hasFault) return 'before-claim'
  if (counted.some(({ idempotencyKey }) => idempotencyKey !== undefined)) return 'other-keys'
  if (counted.some(({ step }) => step === undefined)) return 'bare'
  return counted.some(({ step }) => step?.stops) ? 'within-step' : 'no-key'
}
