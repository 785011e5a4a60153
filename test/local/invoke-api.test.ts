import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import type { LoopbackServer } from '../../infra/local/engines/loopback-server.ts'
import type { InvocableFunction, InvocationResult } from '../../infra/local/lambda/invocation.ts'
import { startInvokeApi } from '../../infra/local/lambda/invoke-api.ts'

let api: LoopbackServer
let client: LambdaClient
const events: unknown[] = []
const results: InvocationResult[] = []
const worker = {
  invoke: async (event: unknown) => {
    events.push(event)
    return results.shift() ?? { kind: 'returned', requestId: 'r', payload: null }
  },
} as unknown as InvocableFunction

beforeEach(async () => {
  events.length = 0
  api = await startInvokeApi((name) => (name === 'worker' ? worker : undefined))
  client = new LambdaClient({ endpoint: api.endpoint, maxAttempts: 1 })
})
afterEach(() => api.stop())
afterAll(() => client.destroy())

const invoke = (FunctionName: string, InvocationType: 'Event' | 'RequestResponse' = 'Event') =>
  client.send(new InvokeCommand({ FunctionName, InvocationType, Payload: '{"a":1}' }))

test.each(['worker', 'arn:aws:lambda:eu-central-1:000000000000:function:worker'])(
  '%s is invoked with its event',
  async (name) => {
    expect((await invoke(name)).StatusCode).toBe(202)
    await expect.poll(() => events).toEqual([{ a: 1 }])
  },
)

test('an event that no environment was free for is kept', async () => {
  results.push({ kind: 'throttled' })
  await invoke('worker')
  await expect.poll(() => events).toEqual([{ a: 1 }, { a: 1 }])
})

test('an invocation that fails is not repeated', async () => {
  results.push({ kind: 'error', requestId: 'r', errorType: 'Error', errorMessage: 'x' })
  await invoke('worker')
  await api.stop()
  expect(events).toHaveLength(1)
})

test('a function that is not there is refused, and so is waiting for an answer', async () => {
  await expect(invoke('nobody')).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  await expect(invoke('worker', 'RequestResponse')).rejects.toMatchObject({ name: 'InvalidParameterValueException' })
  expect(events).toEqual([])
})
