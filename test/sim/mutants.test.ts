import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { MUTANTS } from './mutants.ts'
import { loadMutant, removeCopies, tryMutant } from './mutate.ts'

/** A part of them in every run of the suite; `npm run sim -- --mutants` tries them all. */
const EVERY = Number(process.env.SIM_MUTANTS_EVERY ?? 5)
const SEEDS = 2_000

describe('the simulation finds out when a protection is missing', () => {
  afterAll(removeCopies)

  test.for(MUTANTS.filter((_, index) => index % EVERY === 0))('$name', { timeout: 300_000 }, async (mutant) => {
    const { killer } = await tryMutant(mutant, { from: 0, seeds: SEEDS })
    expect(killer?.violation).toBeDefined()
  })

  test('every mutant fits the source as it is', () => {
    const places = ({ file, from }: (typeof MUTANTS)[number]) =>
      readFileSync(new URL(`../../lib/${file}`, import.meta.url), 'utf8').split(from).length - 1
    expect(MUTANTS.filter((mutant) => places(mutant) !== 1).map(({ name }) => name)).toEqual([])
  })

  test('a mutant that does not fit the source any more is an error, not a pass', async () => {
    const stale = { name: 'stale', file: 'record/decide.ts', from: 'no such text', to: '', focus: {} }
    await expect(loadMutant(stale)).rejects.toThrow('does not fit lib/record/decide.ts any more')
  })
})
