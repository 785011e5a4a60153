import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  createFunctionPool,
  type FunctionPool,
  type FunctionPoolOptions,
} from '../../infra/local/lambda/function-pool.ts'
import type { LocalFunction } from '../../infra/local/template/model.ts'

const definition: LocalFunction = {
  logicalId: 'Probe',
  name: 'probe',
  arn: 'arn:aws:lambda:eu-central-1:000000000000:function:probe',
  codeDirectory: fileURLToPath(new URL('./fixtures/probe', import.meta.url)),
  handler: 'index.handler',
  timeoutSeconds: 30,
  memoryMegabytes: 256,
  reservedConcurrency: undefined,
  environment: { GREETING: 'hello', PAYMENT_PROVIDER_URL: 'https://payments.example' },
}
const place = {
  region: 'eu-central-1',
  dynamoDbEndpoint: 'http://127.0.0.1:1',
  sqsEndpoint: 'http://127.0.0.1:2',
  overrides: { PAYMENT_PROVIDER_URL: 'http://127.0.0.1:3' },
}

let logDirectory: string
const pools: FunctionPool[] = []

function poolOf(changes: Partial<LocalFunction> = {}, options: Partial<FunctionPoolOptions> = {}): FunctionPool {
  const pool = createFunctionPool({ definition: { ...definition, ...changes }, place, logDirectory, ...options })
  pools.push(pool)
  return pool
}

// biome-ignore lint/suspicious/noExplicitAny: the payload is whatever the probe returned, and the tests look into it
async function payloadOf(pool: FunctionPool, event: unknown): Promise<any> {
  const result = await pool.invoke(event)
  if (result.kind !== 'returned') throw new Error(`expected an answer, got ${JSON.stringify(result)}`)
  return result.payload
}

beforeEach(() => {
  logDirectory = mkdtempSync(join(tmpdir(), 'lambda-once-lambda-'))
})
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.stop()))
  rmSync(logDirectory, { recursive: true })
})

describe('an invocation', () => {
  test('finds the context and the variables it would find in Lambda', async () => {
    const { context, env, remainingMs } = await payloadOf(poolOf(), { do: 'describe' })
    expect(context).toMatchObject({
      functionName: 'probe',
      functionVersion: '$LATEST',
      invokedFunctionArn: definition.arn,
      memoryLimitInMB: '256',
      awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    expect(remainingMs).toBeGreaterThan(0)
    expect(remainingMs).toBeLessThanOrEqual(30_000)
    expect(env).toMatchObject({
      GREETING: 'hello',
      AWS_LAMBDA_FUNCTION_NAME: 'probe',
      _HANDLER: 'index.handler',
      AWS_REGION: 'eu-central-1',
      AWS_ENDPOINT_URL_DYNAMODB: place.dynamoDbEndpoint,
      AWS_ENDPOINT_URL_SQS: place.sqsEndpoint,
      TZ: ':UTC',
    })
  })

  test('sees overridden variables instead of the template’s', async () => {
    expect((await payloadOf(poolOf(), { do: 'describe' })).env.PAYMENT_PROVIDER_URL).toBe('http://127.0.0.1:3')
  })

  test('sees nothing of the environment of the runner', async () => {
    process.env.RUNNER_SECRET = 'x'
    expect((await payloadOf(poolOf(), { do: 'describe' })).env).not.toHaveProperty('RUNNER_SECRET')
  })

  test.each([[null], [0], [''], [false], [{ a: [1, 'ü'] }]])('answers %j as it was returned', async (answer) => {
    expect(await payloadOf(poolOf(), { answer })).toEqual(answer)
  })

  test('answers null for undefined', async () => {
    expect(await payloadOf(poolOf(), {})).toBeNull()
  })

  test('that throws is a function error with its type and message, and the process lives on', async () => {
    const pool = poolOf()
    const { pid } = await payloadOf(pool, { do: 'describe' })
    const result = await pool.invoke({ do: 'throw' })
    expect(result).toMatchObject({ kind: 'error', errorType: 'RangeError', errorMessage: 'on purpose' })
    expect(await payloadOf(pool, { do: 'describe' })).toMatchObject({ pid, invocations: 3 })
  })

  test('that runs out of time is killed and answered as timed out; the next one starts afresh', async () => {
    const pool = poolOf({ timeoutSeconds: 1 })
    const { pid } = await payloadOf(pool, { do: 'describe' })
    const result = await pool.invoke({ do: 'sleep', ms: 60_000 })
    expect(result).toMatchObject({ errorMessage: expect.stringContaining('Task timed out after 1.00 seconds') })
    const next = await payloadOf(pool, { do: 'describe' })
    expect(next.invocations).toBe(1)
    expect(next.pid).not.toBe(pid)
    expect(() => process.kill(pid, 0)).toThrow()
  })

  test('whose process gets kill -9 fails with Runtime.ExitError; the next one starts afresh', async () => {
    const pool = poolOf()
    const { pid } = await payloadOf(pool, { do: 'describe' })
    const running = pool.invoke({ do: 'sleep', ms: 60_000 })
    await expect.poll(() => pool.busy().map((environment) => environment.pid)).toEqual([pid])
    process.kill(pid, 'SIGKILL')
    expect(await running).toMatchObject({
      kind: 'error',
      errorType: 'Runtime.ExitError',
      errorMessage: expect.stringContaining('signal: killed'),
    })
    expect(await payloadOf(pool, { do: 'describe' })).toMatchObject({ invocations: 1 })
  })

  test('with an unhandled rejection fails and ends its process', async () => {
    const pool = poolOf()
    expect(await pool.invoke({ do: 'reject-unhandled' })).toMatchObject({
      kind: 'error',
      errorType: expect.stringMatching(/Error|Runtime/),
      errorMessage: 'nobody listens',
    })
    expect(await payloadOf(pool, { do: 'describe' })).toMatchObject({ invocations: 1 })
  })
})

describe('an environment', () => {
  test('is frozen between invocations: a stray timer fires inside the next one', async () => {
    const pool = poolOf()
    const { pid } = await payloadOf(pool, { do: 'arm-stray-timer', ms: 50 })
    await expect.poll(() => stateOf(pid)).toBe('T')
    await sleep(200)
    const thawedAfter = Date.now()
    await payloadOf(pool, { do: 'sleep', ms: 100 })
    const { strayTimerFired } = await payloadOf(pool, { do: 'describe' })
    expect(strayTimerFired).toBeGreaterThanOrEqual(thawedAfter)
  })

  test('serves one invocation at a time: parallel ones get processes of their own, up to the limit', async () => {
    const pool = poolOf({}, { maxEnvironments: 2 })
    const results = await Promise.all([1, 2, 3].map(() => pool.invoke({ do: 'sleep', ms: 300 })))
    expect(results.map(({ kind }) => kind).sort()).toEqual(['returned', 'returned', 'throttled'])
    expect(pool.started()).toBe(2)
  })

  test('that cannot load its handler fails every invocation with the reason', async () => {
    const pool = poolOf({ handler: 'index.missing' })
    for (const _ of [1, 2]) {
      expect(await pool.invoke({})).toMatchObject({
        kind: 'error',
        errorMessage: 'index.missing is undefined or not exported',
      })
    }
  })

  test('writes its output to the log file of its function and shows it line by line', async () => {
    const lines: string[] = []
    const pool = poolOf({}, { onLine: (line) => lines.push(line) })
    await payloadOf(pool, { do: 'describe' })
    await pool.stop()
    expect(lines).toContain('{"event":"probed","do":"describe"}')
    expect(readFileSync(join(logDirectory, 'probe.log'), 'utf8')).toContain('{"event":"probed","do":"describe"}')
  })
})

function stateOf(pid: number): string | undefined {
  return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]
}
