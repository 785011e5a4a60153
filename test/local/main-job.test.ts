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

/** What must be so after every run of 20 orders, but for those that died before they began. */
function expectRightBooks(rows: ReturnType<typeof rowsOf>, fewest: number): void {
  const expected = rows.get('order rows')?.[0] ?? 0
  expect(expected).toBeGreaterThanOrEqual(fewest)
  for (const name of ['marked as paid', 'charges made', 'ledger entries'])
    expect(rows.get(name)?.[0], name).toBe(expected)
  for (const name of ['DUPLICATES', 'LOSSES']) expect(rows.get(name)?.[0], name).toBe(0)
  expect(rows.get('balances')?.[1]).toBe('accounts; 0 are not the sum of their charges')
  expect(rows.get('dead letters')).toEqual([1, 'the poisoned message, only it'])
  const late = Number(/; (\d+) are old ones/.exec(rows.get('balance updates')?.[1] ?? '')?.[1])
  expect(late).toBeGreaterThan(0)
  expect(rows.get('stale, skipped')?.[0]).toBeGreaterThanOrEqual(late)
}

// Most of a run is waiting for the poisoned message to come for the fifth time, so they wait together.
describe.concurrent('npm start', () => {
  test('on the real engines does everything once, though every function is killed', async () => {
    const run = await start('--orders', '20', '--schedule-every', '2')
    expect(run.output).toContain('every order once, every charge once, every balance right')
    expect(run.exitCode).toBe(0)
    const rows = rowsOf(run)
    // At most the two abandoned orders may have died before anything was written down of them.
    expectRightBooks(rows, 18)
    expect(rows.get('killed')).toEqual([6, '1 orders-api, 1 payments-worker, 1 payment-webhook'])
    expect(run.output).toContain('1 outbox-relay, 1 ledger-worker, 1 reconciler')
    for (const name of ['waits', 'signals', 'events', 'messages relayed'])
      expect(rows.get(name)?.[0], name).toBeGreaterThan(0)
  }, 400_000)

  test('without Java does the same in one process, and says what it left out', async () => {
    const run = await start('--in-memory', '--orders', '20')
    expect(run.output).toContain('every order once, every charge once, every balance right (in one process, in memory)')
    expect(run.output).toContain('Left out: kills of real processes')
    expect(run.output).toMatch(/left out, because it needs DynamoDB or processes of its own: .*Relay.*Reconciler/)
    expect(run.exitCode).toBe(0)
    const rows = rowsOf(run)
    expectRightBooks(rows, 20)
    expect(rows.get('killed')).toEqual([0, 'left out: no processes'])
    for (const name of ['waits', 'signals', 'messages relayed']) expect(rows.get(name)?.[0], name).toBeGreaterThan(0)
  }, 400_000)
})

describe('a combination of flags that means nothing', () => {
  test.each([
    [['--in-memory', '--kills', '1'], '--in-memory has no processes that --kills could kill'],
    [['--in-memory', '--assembly', 'elsewhere'], '--in-memory runs the functions of this project only'],
    [
      ['--kill', 'nobody'],
      "argument 'nobody' is invalid. Allowed choices are orders-api, payments-worker, payment-webhook",
    ],
    [['--orders', '0'], '--orders 0 does nothing without --serve'],
  ])('%j is refused', async (flags, message) => {
    const { exitCode, output } = await start(...flags)
    expect(output).toContain(message)
    expect(exitCode).toBe(1)
  })
})
