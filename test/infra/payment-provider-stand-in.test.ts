import { createRequire } from 'node:module'
import { runInNewContext } from 'node:vm'
import { App, Stack } from 'aws-cdk-lib'
import { afterEach, expect, test, vi } from 'vitest'
import { providerAt } from '../../functions/payments/provider.ts'
import { PaymentProviderStandIn } from '../../infra/stacks/payment-provider-stand-in.ts'
import { only } from './constructs/set-up.ts'

const stack = new Stack(new App(), 'Stack')
new PaymentProviderStandIn(stack, 'Provider')
// The code as the template has it.
const exports: { handler?: (event: object) => Promise<{ statusCode: number; body: string }> } = {}
const { ZipFile } = only(stack, 'AWS::Lambda::Function').properties.Code
runInNewContext(ZipFile, { exports, require: createRequire(import.meta.url), Buffer })

afterEach(() => vi.unstubAllGlobals())

test('the worker takes the stand-in for a provider: one charge for an order, and none that was not heard of', async () => {
  vi.stubGlobal('fetch', async (input: string, { method = 'GET', body }: RequestInit) => {
    const { statusCode, body: answer } = await exports.handler!({
      rawPath: new URL(input).pathname,
      requestContext: { http: { method } },
      ...(typeof body === 'string' && { body }),
    })
    return new Response(answer, { status: statusCode })
  })
  const provider = providerAt('https://stand-in.test')
  const payment = { orderId: 'order-1', customerId: 'me', amountCents: 500, currency: 'EUR' } as const
  const step = { idempotencyKey: 'key', attempt: 1, signal: new AbortController().signal }
  const charge = await provider.charge(payment, step)
  expect(charge).toMatchObject({ chargeId: expect.stringMatching(/^ch_[0-9a-f]{12}$/), status: 'succeeded' })
  expect(await provider.charge(payment, step)).toEqual(charge)
  expect((await provider.charge({ ...payment, orderId: 'order-2' }, step)).chargeId).not.toBe(charge.chargeId)
  expect(await provider.find(payment, step)).toEqual({ kind: 'not-done' })
})
