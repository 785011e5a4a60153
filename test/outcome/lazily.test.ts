import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { lazily } from '../../lib/outcome/lazily.ts'

const FIXTURE = fileURLToPath(new URL('./loading.ts', import.meta.url))

interface Told {
  /** Files of the package and packages that were loaded, by name. */
  readonly loaded: readonly string[]
  readonly first: unknown
  readonly statusAfterFirst: string
  readonly again: unknown
}

/** Runs one operation with this value, and a repetition, in a process in which so many loads of some files fail. */
async function inProcess(
  value: 'json' | 'map' | 'large',
  failing: Readonly<Record<string, number>> = {},
): Promise<Told> {
  const { stdout } = await promisify(execFile)(process.execPath, [FIXTURE, value, JSON.stringify(failing)])
  return JSON.parse(stdout) as Told
}

const LAZY = /rich-values|compression|parts\.ts|devalue|zlib/

describe('what is loaded', () => {
  test('for small JSON is neither devalue nor brotli nor what cuts values into parts', async () => {
    const { loaded, first, again } = await inProcess('json')
    expect([first, again]).toEqual(['{"amount":100}', '{"amount":100}'])
    expect(loaded.length).toBeGreaterThan(10)
    expect(loaded.filter((name) => LAZY.test(name))).toEqual([])
  })

  test('for other values is what they need', async () => {
    const map = await inProcess('map')
    expect([map.first, map.again]).toEqual(['Map(1) { 1 => 2 }', 'Map(1) { 1 => 2 }'])
    expect(map.loaded.filter((name) => LAZY.test(name)).join()).toMatch(/rich-values.*devalue/)
    const large = await inProcess('large')
    expect(large.again).toBe(large.first)
    expect(large.loaded.filter((name) => LAZY.test(name)).join()).toMatch(/compression.*parts/)
  })
})

describe('a part that does not load', () => {
  test.each<['map' | 'large', Record<string, number>]>([
    ['map', { 'rich-values.ts': 2 }],
    ['large', { 'compression.ts': 2, 'parts.ts': 2 }],
  ])('at first (%s): tried again, and the outcome is stored', async (value, failing) => {
    const { first, statusAfterFirst, again } = await inProcess(value, failing)
    expect(statusAfterFirst).toBe('COMPLETED')
    expect(again).toBe(first)
  })

  test('at all: the caller is told, and the operation stays in progress; nothing runs it again meanwhile', async () => {
    const { first, statusAfterFirst, again } = await inProcess('map', { 'rich-values.ts': 1_000_000 })
    expect([first, statusAfterFirst, again]).toEqual(['OUTCOME_NOT_RECORDED', 'IN_PROGRESS', 'IN_PROGRESS'])
  })

  test('is asked for again, and one that has loaded is not', async () => {
    const answers = [() => Promise.reject(new Error('EMFILE')), () => Promise.resolve('part')]
    const part = lazily(() => (answers.shift() as () => Promise<string>)())
    await expect(part()).rejects.toMatchObject({ code: 'STORE', retryable: true })
    expect([await part(), await part(), answers.length]).toEqual(['part', 'part', 0])
  })
})
