import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { ensureAssembly } from '../../infra/local/job/synth.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const START = fileURLToPath(new URL('../../infra/local/start.ts', import.meta.url))

interface Run {
  readonly exitCode: number | null
  readonly output: string
}

async function start(...flags: string[]): Promise<Run> {
  const child = spawn(process.execPath, [START, ...flags], { cwd: ROOT, env: { ...process.env, NO_COLOR: '1' } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const [exitCode] = (await once(child, 'close')) as [number | null]
  return { exitCode, output }
}

/** A row of the final table: the number, and what it says about it. */
const rowsOf = ({ output }: Run): Map<string, readonly [number, string]> =>
  new Map(
    [...output.matchAll(/^│ (.+?) +│ +(\d+) │ (.*?) *│$/gm)].map(([, name = '', number, note = '']) => [
      name,
      [Number(number), note],
    ]),
  )

// Once for all: two runs that synthesized at the same time would write over each other.
beforeAll(() => void ensureAssembly(ROOT))

// Most of a run is waiting for the poisoned message to come for the fifth time, so they wait together.
describe.concurrent('npm start', () => {
  test('on the real engines places and charges every order once, though workers are killed', async () => {
    const run = await start('--orders', '20', '--kills', '2', '--visibility', '7')
    expect(run.output).toContain('every order once, every charge once')
    expect(run.exitCode).toBe(0)
    const rows = rowsOf(run)
    expect(rows.get('killed')).toEqual([2, 'kill -9 in the middle of their work: 2 of payments-worker'])
    for (const name of ['order rows', 'charges made']) expect(rows.get(name)?.[0], name).toBe(20)
    for (const name of ['DUPLICATES', 'LOSSES']) expect(rows.get(name)?.[0], name).toBe(0)
    expect(rows.get('deliveries')?.[0]).toBeGreaterThanOrEqual(2 * 21)
    expect(rows.get('dead letters')).toEqual([1, 'the poisoned message, only it'])
  }, 240_000)

  test('without Java does the same in one process, and says what it left out', async () => {
    const run = await start('--in-memory', '--orders', '20', '--visibility', '7')
    expect(run.output).toContain('every order once, every charge once (in one process, in memory)')
    expect(run.output).toContain('Left out: kills of real processes')
    expect(run.exitCode).toBe(0)
    const rows = rowsOf(run)
    expect(rows.get('killed')).toEqual([0, 'left out: no processes'])
    for (const name of ['order rows', 'charges made']) expect(rows.get(name)?.[0], name).toBe(20)
    for (const name of ['DUPLICATES', 'LOSSES']) expect(rows.get(name)?.[0], name).toBe(0)
    expect(rows.get('dead letters')).toEqual([1, 'the poisoned message, only it'])
  }, 240_000)
})

describe('a combination of flags that means nothing', () => {
  test.each([
    [['--in-memory', '--kills', '1'], '--in-memory has no processes that --kills could kill'],
    [['--in-memory', '--assembly', 'elsewhere'], '--in-memory runs the functions of this project only'],
    [['--kill', 'nobody'], "argument 'nobody' is invalid. Allowed choices are orders-api, payments-worker"],
    [['--orders', '0'], '--orders 0 does nothing without --serve'],
  ])('%j is refused', async (flags, message) => {
    const { exitCode, output } = await start(...flags)
    expect(output).toContain(message)
    expect(exitCode).toBe(1)
  })
})
