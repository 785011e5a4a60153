import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type CapturedOutput, captureOutput } from '../../infra/local/lambda/captured-output.ts'
import {
  createInProcessFunction,
  type InProcessFunctionOptions,
  type InvocationContext,
} from '../../infra/local/lambda/in-process-function.ts'
import type { InvocableFunction } from '../../infra/local/lambda/invocation.ts'
import type { LocalFunction } from '../../infra/local/template/model.ts'

const definition: LocalFunction = {
  logicalId: 'Probe',
  name: 'probe',
  arn: 'arn:aws:lambda:eu-central-1:000000000000:function:probe',
  codeDirectory: '/nowhere',
  handler: 'index.handler',
  timeoutSeconds: 30,
  memoryMegabytes: 256,
  reservedConcurrency: undefined,
  environment: {},
}

let logDirectory: string
let output: CapturedOutput
const functions: InvocableFunction[] = []

function functionOf(
  handler: (event: never, context: InvocationContext) => unknown,
  changes: Partial<LocalFunction> = {},
  options: Partial<InProcessFunctionOptions> = {},
): InvocableFunction {
  const probe = createInProcessFunction({
    definition: { ...definition, ...changes },
    handler: handler as InProcessFunctionOptions['handler'],
    output,
    logDirectory,
    ...options,
  })
  functions.push(probe)
  return probe
}

beforeEach(() => {
  logDirectory = mkdtempSync(join(tmpdir(), 'lambda-once-in-process-'))
  output = captureOutput()
})
afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  output.stop()
  await Promise.all(functions.splice(0).map((one) => one.stop()))
  rmSync(logDirectory, { recursive: true })
})

describe('an invocation in this process', () => {
  test('finds the context it would find in Lambda, with the time left until the template’s timeout', async () => {
    vi.useFakeTimers()
    const seen: unknown[] = []
    await functionOf((_event, { getRemainingTimeInMillis, ...context }) => {
      vi.advanceTimersByTime(1_000)
      seen.push(context, getRemainingTimeInMillis())
    }).invoke({})
    expect(seen).toEqual([
      expect.objectContaining({
        functionName: 'probe',
        functionVersion: '$LATEST',
        invokedFunctionArn: definition.arn,
        memoryLimitInMB: '256',
        awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      }),
      29_000,
    ])
  })

  test.each([[null], [0], [''], [{ a: [1, 'ü'] }]])('answers %j as it was returned', async (answer) => {
    expect(await functionOf(() => answer).invoke({})).toMatchObject({ kind: 'returned', payload: answer })
  })

  test('answers null for undefined', async () => {
    expect(await functionOf(() => undefined).invoke({})).toMatchObject({ kind: 'returned', payload: null })
  })

  test('cannot change the event in the hands of its caller', async () => {
    const event = { Records: [{ body: 'as sent' }] }
    await functionOf((received: typeof event) => {
      received.Records[0]!.body = 'changed'
    }).invoke(event)
    expect(event).toEqual({ Records: [{ body: 'as sent' }] })
  })

  test.each([
    [new RangeError('on purpose'), 'RangeError', 'on purpose'],
    ['a string', 'string', 'a string'],
  ])('that throws %s is a function error with its type and message', async (thrown, errorType, errorMessage) => {
    vi.spyOn(console, 'error').mockReturnValue()
    const result = await functionOf(() => Promise.reject(thrown)).invoke({})
    expect(result).toMatchObject({ kind: 'error', errorType, errorMessage })
  })

  test('that runs out of time is answered as timed out', async () => {
    vi.useFakeTimers()
    const running = functionOf(() => new Promise(() => undefined), { timeoutSeconds: 2 }).invoke({})
    vi.advanceTimersByTime(2_000)
    expect(await running).toMatchObject({
      kind: 'error',
      errorType: 'Sandbox.Timedout',
      errorMessage: expect.stringContaining('Task timed out after 2.00 seconds'),
    })
  })

  test.each([
    ['the template’s reserved concurrency', { reservedConcurrency: 2 }, { maxEnvironments: 5 }],
    ['the runner’s limit', {}, { maxEnvironments: 2 }],
  ])('over %s is throttled, and runs when another one is done', async (_, changes, options) => {
    const gate = Promise.withResolvers<void>()
    const probe = functionOf(() => gate.promise, changes, options)
    const running = [probe.invoke({}), probe.invoke({})]
    expect(await probe.invoke({})).toEqual({ kind: 'throttled' })
    gate.resolve()
    await Promise.all(running)
    expect(await probe.invoke({})).toMatchObject({ kind: 'returned' })
  })
})

describe('what a function writes in this process', () => {
  test('goes to its log and to nobody’s terminal, whoever writes at the same time', async () => {
    const lines: Record<string, string[]> = { one: [], two: [] }
    const functionSaying = (name: 'one' | 'two') =>
      functionOf(
        async () => {
          process.stdout.write(`{"event":"${name}"}\n`)
          await Promise.resolve()
          process.stderr.write(`${name} failed\nfor a reason\n`)
        },
        { name },
        { onLine: (line) => lines[name]!.push(line) },
      )
    const both = [functionSaying('one'), functionSaying('two')]
    await Promise.all(both.map((probe) => probe.invoke({})))
    for (const name of ['one', 'two'] as const) {
      expect(lines[name]).toEqual([`{"event":"${name}"}`, `${name} failed`, 'for a reason'])
    }
    await Promise.all(functions.splice(0).map((probe) => probe.stop()))
    const log = readFileSync(join(logDirectory, 'one.log'), 'utf8')
    expect(log).toMatch(/^START RequestId: \S+ in process\n\{"event":"one"\}\none failed\nfor a reason\nEND RequestId/)
    expect(log).not.toContain('two')
  })

  test('passes through where no function writes, and everything does after the end', () => {
    const written: string[] = []
    output.stop()
    const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0)
    const capturing = captureOutput()
    process.stdout.write('of the runner')
    capturing.run(
      () => undefined,
      () => process.stdout.write('of a function'),
    )
    capturing.stop()
    process.stdout.write('afterwards')
    spy.mockRestore()
    expect(written).toEqual(['of the runner', 'afterwards'])
  })
})
