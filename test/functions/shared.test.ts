import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { environmentVariable, numberVariable } from '../../functions/shared/environment.ts'
import { serviceIdempotency } from '../../functions/shared/idempotency.ts'
import { useIdempotencyTable } from './service.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

describe('environment', () => {
  test.each([undefined, '', ' '])('a variable that is %j is missing, and the error names it', (value) => {
    vi.stubEnv('ORDERS_TABLE', value)
    expect(() => environmentVariable('ORDERS_TABLE')).toThrow('The environment variable ORDERS_TABLE is not set.')
  })

  test.each(['0', '-1', 'soon', 'Infinity', 'NaN'])('%s is no number of seconds', (value) => {
    vi.stubEnv('RETENTION_SECONDS', value)
    expect(() => numberVariable('RETENTION_SECONDS')).toThrow(
      `The environment variable RETENTION_SECONDS must be a positive number; it is "${value}".`,
    )
  })

  test.each(['orders-api', 'payments-worker', 'ledger-worker', 'payment-webhook', 'outbox-relay', 'reconciler'])(
    '%s does not even start without its variables',
    async (name) => {
      for (const variable of ['IDEMPOTENCY_TABLE', 'ORDERS_TABLE', 'LEDGER_TABLE']) vi.stubEnv(variable, undefined)
      await expect(import(`../../functions/${name}.ts`)).rejects.toThrow(/The environment variable \w+ is not set\./)
    },
  )
})

describe('events', () => {
  beforeAll(useIdempotencyTable)

  const linesOf = async (work: () => Promise<unknown>): Promise<Record<string, unknown>[]> => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    await work()
    const written = write.mock.calls.map(([text]) => String(text)).join('')
    expect(written).toMatch(/\n$/)
    return written
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  }

  test('each is one JSON line that names what happened and to which family of operations', async () => {
    const idempotency = serviceIdempotency('payments')
    const lines = await linesOf(async () => {
      await idempotency.run({ key: 'key-1', input: { card: '4711' } }, () => 'done')
      await idempotency.run({ key: 'key-1', input: { card: '4711' } }, () => 'done')
    })
    expect(lines).toMatchObject(
      ['claimed', 'completed', 'replayed'].map((event) => ({ event, namespace: 'payments', attempt: 1 })),
    )
  })

  test('none carries a key, an input or a result', async () => {
    const idempotency = serviceIdempotency('payments')
    const lines = await linesOf(() =>
      idempotency.run({ key: 'secret-key', scope: 'secret-caller', input: 'secret-input' }, () => 'secret-result'),
    )
    expect(JSON.stringify(lines)).not.toContain('secret')
  })

  test('an error is told in words', async () => {
    vi.stubEnv('IDEMPOTENCY_TABLE', 'a-table-nobody-made')
    const idempotency = serviceIdempotency('payments')
    const [line] = await linesOf(() => idempotency.run({ key: 'key-1', input: 1 }, () => 1).catch(() => undefined))
    expect(line).toMatchObject({ event: 'store-error', error: expect.stringContaining('a-table-nobody-made') })
  })
})
