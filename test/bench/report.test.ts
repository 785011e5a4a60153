import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { benchOptions } from './options.ts'
import { ratioOf, rounds, spreadOf } from './pairs.ts'
import { machineSection } from './report/judgement.ts'
import { pageWith } from './report/pages.ts'
import { figure } from './report/section.ts'
import { judged } from './report/targets.ts'

describe('rounds', () => {
  test('run every side once a round, each of them first in turn', async () => {
    const order: string[] = []
    const side = (name: string) => async (round: number) => {
      order.push(`${name}${round}`)
      return `${name}${round}`
    }
    const all = await rounds(3, { a: side('a'), b: side('b') })
    expect(order).toEqual(['a0', 'b0', 'b1', 'a1', 'a2', 'b2'])
    expect(all).toEqual([
      { a: 'a0', b: 'b0' },
      { a: 'a1', b: 'b1' },
      { a: 'a2', b: 'b2' },
    ])
  })
})

describe('a spread', () => {
  test('is the median and the quartiles, between two values where they fall there', () => {
    expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, low: 1.75, high: 3.25, pairs: 4 })
    expect(spreadOf([7])).toEqual({ median: 7, low: 7, high: 7, pairs: 1 })
  })

  test('of ratios is taken over the pairs, not over their sums', () => {
    const pairs = [
      [1, 2],
      [100, 100],
      [3, 4],
    ] as const
    expect(ratioOf(pairs).median).toBe(0.75)
  })
})

describe('a target', () => {
  const spread = { median: 0.5004, low: 0.4, high: 0.6, pairs: 12 }

  test('is met up to its value, and judged before it is rounded', () => {
    expect(judged({ batch10_wall: { ...spread, median: 0.5 } })).toEqual({
      batch10_wall: { ratio: 0.5, low: 0.4, high: 0.6, pairs: 12, target: 0.5, met: true },
    })
    expect(judged({ batch10_wall: spread })).toMatchObject({ batch10_wall: { ratio: 0.5, met: false } })
  })

  test('that was not measured is left out, and what has no target too', () => {
    expect(judged({ another: spread })).toEqual({})
  })
})

test('the machine is named with the versions of what is compared', () => {
  const { rows } = machineSection()
  expect(rows.map(([what]) => what)).toContain('@aws-lambda-powertools/idempotency')
  for (const [, which] of rows) expect(which).toMatch(/\d/)
})

describe('a page', () => {
  const section = { name: 'one', command: 'npm run bench', head: ['a', 'b|c'], rows: [['1', '2']] }
  const page = 'before\n<!-- bench: one -->\nold\n<!-- end: one -->\nafter\n'

  test('gets a table between its marks, and the command that made it', () => {
    expect(pageWith(page, [section])).toBe(
      'before\n<!-- bench: one -->\n| a | b\\|c |\n| --- | --- |\n| 1 | 2 |\n\n`npm run bench`\n<!-- end: one -->\nafter\n',
    )
  })

  test('stays as it is when it has no place for a section, or has it already', () => {
    expect(pageWith('nothing\n', [section])).toBe('nothing\n')
    expect(pageWith(pageWith(page, [section]), [section])).toBe(pageWith(page, [section]))
  })

  test.each(['performance', 'costs', 'scale'])('docs/%s.md ends each of its marks', async (name) => {
    const text = await readFile(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8')
    const marks = (word: string) =>
      [...text.matchAll(new RegExp(`<!-- ${word}: ([\\w-]+) -->`, 'g'))].map(([, of]) => of)
    expect(marks('bench').length).toBeGreaterThan(0)
    expect(marks('end')).toEqual(marks('bench'))
    expect(new Set(marks('bench')).size).toBe(marks('bench').length)
  })
})

test('a figure has three digits that count', () => {
  expect([0, 0.01234, 1.2345, 12.345, 123.45, 12_345].map(figure)).toEqual([
    '0',
    '0.0123',
    '1.23',
    '12.3',
    '123',
    '12,345',
  ])
})

describe('the options of the command', () => {
  test('are read, with a small table by default', () => {
    expect(benchOptions([], ['single'])).toEqual({
      json: false,
      quick: false,
      write: false,
      only: undefined,
      tableRecords: 20_000,
    })
    expect(benchOptions(['--only', 'single', '--table-records', '1000000'], ['single'])).toMatchObject({
      only: 'single',
      tableRecords: 1_000_000,
    })
  })

  test.each([
    [['--only', 'nothing'], '--only takes one of single; got nothing.'],
    [['--quick', '--write'], '--write is for figures of a whole run'],
    [['--table-records', 'many'], '--table-records takes a number of records; got many.'],
    [['--fast'], "Unknown option '--fast'"],
  ])('%j is refused', (args, message) => {
    expect(() => benchOptions(args, ['single'])).toThrow(message)
  })
})
