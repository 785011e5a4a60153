import { describe, expect, test } from 'vitest'
import { httpEvent, lambdaContext } from './events.ts'
import { setUp } from './harness.ts'

describe('an option that is async by mistake is refused, and nothing is claimed:', () => {
  test.each([
    ['scope', () => Promise.resolve('tenant-1')],
    ['scope', () => Promise.reject(new Error('No such tenant.'))],
    ['scope', () => ['tenant', Promise.reject(new Error('No such tenant.'))]],
    ['fingerprint', () => Promise.resolve('body')],
    ['fingerprint', () => Promise.reject(new Error('No body.'))],
  ])('%s', async (name, select) => {
    const { serve, store } = setUp({ [name]: select })
    await expect(serve(() => ({ statusCode: 201 }))(httpEvent())).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining(`${name} must be known at once; got a promise`),
    })
    expect(store.calls).toEqual([])
  })
})

describe('the request id of the invocation, which every repetition has another of, is refused', () => {
  test('as a key that a middleware before has put in', async () => {
    const { serve, store } = setUp()
    const context = lambdaContext()
    const post = serve(() => ({ statusCode: 201 }))
    await expect(post(httpEvent({ key: context.awsRequestId }), context)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(/^key .* awsRequestId/),
    })
    expect(store.calls).toEqual([])
  })

  test('as a scope', async () => {
    const { serve, store } = setUp({ scope: (_: unknown, { awsRequestId }: { awsRequestId: string }) => awsRequestId })
    await expect(serve(() => ({ statusCode: 201 }))(httpEvent())).rejects.toThrow(/^scope .* awsRequestId/)
    expect(store.calls).toEqual([])
  })
})
