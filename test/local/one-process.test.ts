import { afterEach, beforeEach, expect, test } from 'vitest'
import { startOneProcess } from '../../infra/local/platform/one-process.ts'
import type { FunctionStart, Platform } from '../../infra/local/platform/platform.ts'
import { runnablePart } from '../../infra/local/platform/runnable-part.ts'
import type { LocalFunction, LocalModel } from '../../infra/local/template/model.ts'

let platform: Platform
beforeEach(() => {
  platform = startOneProcess()
})
afterEach(() => platform.stop())

const modelWith = (environment: LocalFunction['environment'], more: Partial<LocalModel> = {}): LocalModel => ({
  region: 'eu-central-1',
  tables: [],
  queues: [],
  functions: [{ name: 'somebodys', environment } as LocalFunction],
  queueMappings: [],
  streamMappings: [],
  schedules: [],
  routes: [],
  ...more,
})
const start = (model: LocalModel): FunctionStart => ({
  definition: model.functions[0]!,
  model,
  sqsEndpoint: 'http://127.0.0.1:1',
  lambdaEndpoint: 'http://127.0.0.1:1',
  overrides: {},
  logDirectory: '/nowhere',
  maxEnvironments: undefined,
  onLine: () => undefined,
})
const postOrders = { routeKey: 'POST /orders', functionName: 'somebodys', authorizer: undefined, timeoutMs: 1 }

test.each<[string, LocalModel, RegExp]>([
  ['a function this project does not have', modelWith({}), /somebodys can only run in processes of its own/],
  [
    'a worker without its variables',
    modelWith({ PAYMENT_PROVIDER_URL: 'http://127.0.0.1:1', LEDGER_TABLE: 'ledger' }),
    /no variable RETENTION_SECONDS/,
  ],
  [
    'an API whose table is not in the template',
    modelWith({ ORDERS_TABLE: 'orders', RETENTION_SECONDS: '60' }, { routes: [postOrders] }),
    /no table orders in the template/,
  ],
])('%s is refused by name', (_, model, message) => {
  expect(() => platform.startFunction(start(model))).toThrow(message)
})

test('a function it cannot run is left out with all that leads to it, and said so', () => {
  const leads = { functionName: 'relay', logicalId: 'x' }
  const whole = modelWith(
    { PAYMENT_PROVIDER_URL: 'http://127.0.0.1:1' },
    {
      queueMappings: [leads, { ...leads, functionName: 'somebodys' }] as unknown as LocalModel['queueMappings'],
      streamMappings: [leads] as unknown as LocalModel['streamMappings'],
      schedules: [leads] as unknown as LocalModel['schedules'],
    },
  )
  const functions = [...whole.functions, { name: 'relay', environment: {} } as LocalFunction]
  const { model, leftOut } = runnablePart({ ...whole, functions }, platform)
  expect(model.functions.map(({ name }) => name)).toEqual(['somebodys'])
  expect(model.queueMappings.map(({ functionName }) => functionName)).toEqual(['somebodys'])
  expect([...model.streamMappings, ...model.schedules]).toEqual([])
  expect(leftOut).toEqual(['the function relay'])
})

test('a stream to a function it can run is left out, and said so', () => {
  const streamMappings = [
    { functionName: 'somebodys', streamArn: 'arn:stream' },
  ] as unknown as LocalModel['streamMappings']
  const whole = modelWith({ PAYMENT_PROVIDER_URL: 'http://127.0.0.1:1' }, { streamMappings })
  const { model, leftOut } = runnablePart(whole, platform)
  expect(model).toEqual({ ...whole, streamMappings: [] })
  expect(leftOut).toEqual(['the stream arn:stream to somebodys'])
})

test('a table of the template starts empty, one that is not in it cannot be read', async () => {
  await platform.createTables({ tables: [{ name: 'orders', creation: {} }] } as unknown as LocalModel)
  expect(await platform.items('orders')).toEqual([])
  await expect(platform.items('customers')).rejects.toThrow('no table customers in the template')
})
