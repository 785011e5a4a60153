import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { MUTANTS, type Mutant } from './mutants.ts'
import { type Result, simulate } from './simulate.ts'
import { loadSubject, type Subject } from './subject.ts'

/** What became of a mutant. */
export interface Trial {
  readonly mutant: Mutant
  /** The schedule in which an invariant did not hold. Absent: none was found. */
  readonly killer: Result | undefined
  readonly schedules: number
}

const LIB = new URL('../../lib/', import.meta.url)
const COPIES = new URL('../../.local/mutants/', import.meta.url)

/**
 * Loads lib with one protection removed.
 * @throws Error when the source has changed so that the protection is not found any more
 */
export async function loadMutant({ name, file, from, to }: Mutant): Promise<Subject> {
  const copy = new URL(`${process.pid}/${name.replace(/\W+/g, '-')}/`, COPIES)
  mkdirSync(copy, { recursive: true })
  cpSync(LIB, copy, { recursive: true })
  const path = new URL(file, copy)
  const parts = readFileSync(path, 'utf8').split(from)
  if (parts.length !== 2) {
    throw new Error(
      `The mutant "${name}" does not fit lib/${file} any more: it has ${parts.length - 1} places that read \`${from}\`. Say in test/sim/mutants.ts what protects there now.`,
    )
  }
  writeFileSync(path, parts.join(to))
  return loadSubject(copy)
}

/** Runs schedules until one shows that something is missing. */
export async function tryMutant(mutant: Mutant, { from, seeds }: { from: number; seeds: number }): Promise<Trial> {
  const subject = await loadMutant(mutant)
  for (let seed = from; seed < from + seeds; seed++) {
    const result = await simulate(subject, { seed, focus: mutant.focus })
    if (result.violation !== undefined) return { mutant, killer: result, schedules: seed - from + 1 }
  }
  return { mutant, killer: undefined, schedules: seeds }
}

export function mutantNamed(name: string): Mutant {
  const found = MUTANTS.find((mutant) => mutant.name === name)
  if (found === undefined)
    throw new Error(`There is no mutant "${name}". There are: ${MUTANTS.map((m) => m.name).join('; ')}`)
  return found
}

/** Removes the copies that this process has made. */
export function removeCopies(): void {
  rmSync(new URL(`${process.pid}/`, COPIES), { recursive: true, force: true })
}
