import { afterEach, beforeEach, expect, test } from 'vitest'
import { startOneProcess } from '../../infra/local/platform/one-process.ts'
import type { FunctionStart, Platform } from '../../infra/local/platform/platform.ts'
import type { LocalFunction, LocalModel } from '../../infra/local/template/model.ts'

let platform: Platform
beforeEach(() => {
  platform = startOneProcess()
})
afterEach(() => platform.stop())

const start = (environment: LocalFunction['environment']): FunctionStart => ({
  definition: { name: 'somebody-elses', environment } as LocalFunction,
  region: 'eu-central-1',
  sqsEndpoint: 'http://127.0.0.1:1',
  overrides: {},
  logDirectory: '/nowhere',
  maxEnvironments: undefined,
  onLine: () => undefined,
})

test.each<[string, LocalFunction['environment'], RegExp]>([
  ['a function this project does not have', {}, /somebody-elses can only run in processes of its own/],
  ['a worker without its variables', { PAYMENT_PROVIDER_URL: 'http://127.0.0.1:1' }, /no variable RETENTION_SECONDS/],
  [
    'an API whose table is not in the template',
    { ORDERS_TABLE: 'orders', RETENTION_SECONDS: '60' },
    /no table orders in the template/,
  ],
])('%s is refused by name', (_, environment, message) => {
  expect(() => platform.startFunction(start(environment))).toThrow(message)
})

test('a table of the template starts empty, one that is not in it cannot be read', async () => {
  await platform.createTables({ tables: [{ name: 'orders' }] } as unknown as LocalModel)
  expect(await platform.items('orders')).toEqual([])
  await expect(platform.items('customers')).rejects.toThrow('no table customers in the template')
})
