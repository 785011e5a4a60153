import { describe, expect, test } from 'vitest'
import { ALL, type Protections } from './protocol.ts'
import { search } from './search.ts'
import { PROGRAMS, type Program } from './state.ts'

/** `MODEL_DEPTH=full npm test -- test/model` walks further: minutes, and gigabytes. */
const isFull = process.env.MODEL_DEPTH === 'full'

describe('the protocol in small, searched whole: every interleaving, crash, lost write, lost answer and takeover', () => {
  test.for(PROGRAMS)('two workers with two deliveries each: %s', (program) => {
    const late = isFull ? 1 : 0
    const { violation, states } = search({ program, workers: 2, deliveries: 2, ticks: isFull ? 4 : 3, late })
    expect(violation).toBeUndefined()
    expect(states).toBeGreaterThan(30_000)
  })

  test.for(PROGRAMS)('two workers, one of whose writes may arrive after it was given up: %s', (program) => {
    expect(search({ program, workers: 2, deliveries: 1, ticks: 4, late: 1 }).violation).toBeUndefined()
  })

  test.for(PROGRAMS)('three workers: %s', (program) => {
    expect(search({ program, workers: 3, deliveries: 1, ticks: isFull ? 4 : 3, late: 0 }).violation).toBeUndefined()
  })

  const teeth: readonly [keyof Protections, Program, string][] = [
    ['rev', 'plain', 'no two completions of one operation'],
    ['unknown', 'stop', 'unknown is never left'],
    ['mark', 'stop', 'an at-most-once step never runs twice'],
  ]
  test.for(teeth)(
    'without %s the search of %s finds the shortest way into harm',
    ([protection, program, invariant]) => {
      const protections = { ...ALL, [protection]: false }
      const { violation } = search({ program, workers: 2, deliveries: 2, ticks: 4, late: 0, protections })
      expect(violation?.invariant).toBe(invariant)
      expect(violation?.way.length).toBeGreaterThan(3)
    },
  )
})
