import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyResultV2, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { describe, expect, test, vi } from 'vitest'
import { batchHandler, eachRecord, idempotentBatch } from '../../lib/batch/index.ts'
import { idempotent, idempotentHttp } from '../../lib/http/index.ts'
import { createIdempotency, isLambdaOnceError, RetryLater } from '../../lib/index.ts'
import { NotIdempotentError, sqsEvent, verifyIdempotent, type World } from '../../lib/testing/index.ts'
import { ORDER, said, verifyHttp, verifyRun } from './set-up.ts'

const ORDERS = sqsEvent({ body: { id: 'order-1' } }, { body: { id: 'order-2' } })

describe('what passes', () => {
  test('an HTTP handler whose steps pass their key on', async () => {
    const verification = await verifyHttp(async ({ step }, { effect }) => {
      await step('charge', ({ idempotencyKey }) => effect('charge', { idempotencyKey }))
      await step('mail', ({ idempotencyKey }) => effect('mail', { idempotencyKey }))
    })
    // The claim, two steps with their effects and the completion have six places; a replay has one.
    expect(verification).toEqual({ sequences: 31, deliveries: expect.any(Number), effects: { charge: 1, mail: 1 } })
  })

  test('a Middy handler', async () => {
    const build = ({ idempotency, effect }: World) =>
      middy<APIGatewayProxyEventV2, APIGatewayProxyResultV2>()
        .use(idempotentHttp({ idempotency: idempotency() }))
        .handler(async (_event, { operation }) => {
          await operation.step('charge', ({ idempotencyKey }) => effect('charge', { idempotencyKey }))
          return { statusCode: 201, body: 'done' }
        })
    expect((await verifyIdempotent(build, ORDER)).effects).toEqual({ charge: 1 })
  })

  test('a batch, with Middy too', async () => {
    const build = ({ idempotency, effect }: World) =>
      middy<SQSEvent, SQSBatchResponse>()
        .use(idempotentBatch<{ id: string }>({ idempotency: idempotency() }))
        .handler(
          eachRecord<{ id: string }>(async ({ body }, { step }) => {
            await step('charge', ({ idempotencyKey }) => effect('charge', { idempotencyKey, of: body.id }))
          }),
        )
    expect((await verifyIdempotent(build, ORDERS)).effects).toEqual({ charge: 2 })
  })

  test('a commit', async () => {
    const writes = [{ Put: { TableName: 'orders', Item: { id: 'order-1' } } }]
    const verification = await verifyRun(({ commit }) => commit('done', { writes }), { faults: 2 })
    expect(verification.effects).toEqual({ commit: 1 })
  })

  test('a function with a key of its own', async () => {
    const build = ({ idempotency, effect }: World) => {
      const issue = idempotency().wrap((order: { id: string }) => effect('issue', { idempotencyKey: order.id }), {
        key: (order) => order.id,
      })
      return (order: { id: string }) => issue(order)
    }
    expect((await verifyIdempotent(build, { id: 'order-1' })).effects).toEqual({ issue: 1 })
  })

  test('a handler that waits, whose time comes', async () => {
    const verification = await verifyRun(
      async (operation, { effect }) => {
        if (operation.attempt === 1) return operation.delay({ seconds: 600 })
        return operation.step('charge', ({ idempotencyKey }) => effect('charge', { idempotencyKey }))
      },
      { idempotency: { reconcilerShards: 1, reconcilerRecovers: true } },
    )
    // A crash in the first attempt makes the second one the one that charges, without waiting.
    expect(verification.effects).toEqual({ charge: 1 })
  })

  test('a step that retries on the clock of the world', async () => {
    const verification = await verifyHttp(({ step }, { effect }) =>
      step('charge', ({ idempotencyKey }) => effect('charge', { idempotencyKey }), { retry: {} }),
    )
    expect(verification.effects).toEqual({ charge: 1 })
  })

  test('is the same each time', async () => {
    const verify = () =>
      verifyHttp(({ step }, { effect }) => step('charge', ({ idempotencyKey }) => effect('charge', { idempotencyKey })))
    expect(await verify()).toEqual(await verify())
  })

  test('every pair of faults, when asked for', async () => {
    const { sequences } = await verifyHttp(
      ({ step }, { effect }) => step('charge', ({ idempotencyKey }) => effect('charge', { idempotencyKey })),
      { faults: 2 },
    )
    expect(sequences).toBeGreaterThan(200)
  })
})

describe('what each fault finds', () => {
  test('a crash: an effect outside of a step', async () => {
    const message = await said(verifyHttp((_operation, { effect }) => effect('charge')))
    expect(message).toContain(
      'NotIdempotentError: crash after the effect "charge", before the completion of the operation: "charge" happened 2 times, expected once.',
    )
    expect(message).toContain('Wrap it in operation.step("charge"')
  })

  test('a crash: a step without a key', async () => {
    const message = await said(verifyHttp(({ step }, { effect }) => step('pay', () => effect('charge'))))
    expect(message).toContain('crash after the effect "charge", before the recording of step "pay"')
    expect(message).toContain('Pass its idempotencyKey on')
  })

  test('a crash: a step without a key, in a batch', async () => {
    const build = ({ idempotency, effect }: World) =>
      batchHandler({ idempotency: idempotency() }, async (_record, { step }) => step('pay', () => effect('charge')))
    const message = await said(verifyIdempotent(build, sqsEvent({ body: 1 })))
    expect(message).toContain('Pass its idempotencyKey on')
  })

  test('a crash: a handler that makes its idempotency itself', async () => {
    const build = ({ store, clock, effect }: World) => {
      const { run } = createIdempotency({ store, clock, namespace: 'orders' })
      return async (order: { id: string }) => {
        await run({ key: order.id, input: order }, () => effect('charge'))
      }
    }
    const message = await said(verifyIdempotent(build, { id: 'order-1' }))
    expect(message).toContain('crash after the effect "charge"')
    expect(message).toContain('Nothing tells the attempt that takes over that it is done.')
  })

  test('a crash: two effects in a step that stops', async () => {
    const message = await said(
      verifyHttp(
        ({ step, attempt }, { effect }) =>
          step(
            'mail',
            async () => {
              await effect('mail')
              if (attempt > 1) await effect('mail')
            },
            { onUnknown: 'stop' },
          ),
        { effects: { mail: 'at-most-once' } },
      ),
    )
    expect(message).toContain('crash after the claim, before the start mark of step "mail"')
    expect(message).toContain('Give each call a step of its own.')
  })

  test('an answer that is lost: a second try under another key', async () => {
    const message = await said(
      verifyHttp(({ step }, { effect }) =>
        step('charge', ({ idempotencyKey }) =>
          effect('charge', { idempotencyKey }).catch(() => effect('charge', { idempotencyKey: `${idempotencyKey}-2` })),
        ),
      ),
    )
    expect(message).toContain('the effect "charge" done and its answer lost: "charge" happened 2 times')
    expect(message).toContain('It was given different idempotency keys')
  })

  test('an answer that is lost: what comes after it is left out for good', async () => {
    const message = await said(
      verifyHttp(async (_operation, { effect }) => {
        await effect('charge', { idempotencyKey: 'order-1' })
        await effect('mail', { idempotencyKey: 'order-1' })
      }),
    )
    expect(message).toContain('the effect "charge" done and its answer lost: "mail" never happened, expected once.')
    expect(message).toContain('ended as FAILED')
  })

  test('a store out of reach: a refund of what was charged', async () => {
    const message = await said(
      verifyHttp(async ({ step }, { effect }) => {
        try {
          await step('charge', ({ idempotencyKey }) => effect('charge', { idempotencyKey }))
        } catch (error) {
          if (isLambdaOnceError(error, 'OUTCOME_NOT_RECORDED')) await effect('refund')
          throw error
        }
      }),
    )
    expect(message).toContain(
      'the store out of reach from the recording of step "charge" on: "refund" happened once, expected never, as in one undisturbed delivery.',
    )
  })

  test('a second delivery in between: a handler that goes on when it is refused', async () => {
    const build = ({ idempotency, effect }: World) => {
      const { run } = idempotency()
      return async (order: { id: string }) => {
        const charge = () => effect('charge', { idempotencyKey: order.id })
        await run({ key: order.id, input: order }, charge).catch(async (error) => {
          if (isLambdaOnceError(error, 'IN_PROGRESS')) await effect('charge')
          else throw error
        })
      }
    }
    const message = await said(verifyIdempotent(build, { id: 'order-1' }))
    expect(message).toContain('a second delivery while the first one is just behind the claim')
    expect(message).toContain('"charge" happened 2 times')
  })

  test('no fault: a key that is new in each delivery', async () => {
    const build = ({ idempotency, effect }: World) => {
      const { run } = idempotency()
      return async (event: typeof ORDER) => {
        await run({ key: event.requestContext.requestId, fingerprint: false }, () => effect('charge'))
      }
    }
    const message = await said(verifyIdempotent(build, ORDER))
    expect(message).toContain('several deliveries without any fault: "charge" happened 2 times, expected once.')
    expect(message).toContain('their key or scope differs')
  })

  test('no fault: an effect in front of the claim', async () => {
    const build = ({ idempotency, effect }: World) => {
      const protectedHandler = idempotent({ idempotency: idempotency() }, async () => ({ statusCode: 201 }))
      return async (...args: Parameters<typeof protectedHandler>) => {
        await effect('audit')
        return protectedHandler(...args)
      }
    }
    const message = await said(verifyIdempotent(build, ORDER))
    expect(message).toContain('several deliveries without any fault: "audit" happened 2 times')
    expect(message).toContain('behind the claim')
  })

  test('a pair: an effect that is repeated only when the first repetition fails, too', async () => {
    const work: Parameters<typeof verifyHttp>[0] = ({ step, attempt }, { effect }) =>
      step('charge', ({ idempotencyKey }) =>
        effect('charge', { idempotencyKey: attempt < 3 ? idempotencyKey : 'another' }),
      )
    expect(await said(verifyHttp(work))).toBe('passed')
    expect(await said(verifyHttp(work, { faults: 2 }))).toContain(', then ')
  })
})

describe('what is expected', () => {
  const stopping: Parameters<typeof verifyHttp>[0] = ({ step }, { effect }) =>
    step('mail', () => effect('mail'), { onUnknown: 'stop' })

  test('once: a step that stops may leave its effect out, and that is said', async () => {
    const message = await said(verifyHttp(stopping))
    expect(message).toContain('"mail" never happened, expected once.')
    expect(message).toContain('ended as UNKNOWN')
  })

  test('at most once: it passes, and one that repeats does not', async () => {
    expect(await said(verifyHttp(stopping, { effects: { mail: 'at-most-once' }, faults: 2 }))).toBe('passed')
    const message = await said(
      verifyHttp(({ step }, { effect }) => step('mail', () => effect('mail')), { effects: { mail: 'at-most-once' } }),
    )
    expect(message).toContain('"mail" happened 2 times, expected at most once.')
  })

  test('at least once: a step without a key passes, and one that stops does not', async () => {
    const effects = { mail: 'at-least-once' } as const
    expect(await said(verifyHttp(({ step }, { effect }) => step('mail', () => effect('mail')), { effects }))).toBe(
      'passed',
    )
    expect(await said(verifyHttp(stopping, { effects }))).toContain('"mail" never happened, expected at least once.')
  })

  test('an operation that only an operator may end leaves its effect out', async () => {
    const message = await said(
      verifyHttp(
        ({ step }, { effect }) => step('charge', ({ idempotencyKey }) => effect('charge', { idempotencyKey })),
        {
          idempotency: { takeover: 'never' },
        },
      ),
    )
    expect(message).toContain('"charge" never happened')
    expect(message).toContain("takeover: 'never'")
  })

  test('effects on several things are counted one by one', async () => {
    const build = ({ idempotency, effect }: World) =>
      batchHandler<{ id: string }>({ idempotency: idempotency() }, async ({ body }) => {
        await effect('charge', { of: body.id })
      })
    const error: unknown = await verifyIdempotent(build, ORDERS).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(NotIdempotentError)
    expect(error).toMatchObject({
      effect: 'charge',
      message: expect.stringContaining('"charge" of "order-1" happened 2 times, expected once.'),
    })
    // Nothing of a process is done after its crash, whatever ran side by side.
    expect((error as NotIdempotentError).sequence[0]).toBe(
      'delivery 1: the claim; the claim; the effect "charge" of "order-1"; crash',
    )
  })
})

describe('what comes again', () => {
  test('of a queue: what failed, with another receipt and a higher count', async () => {
    const seen: string[][] = []
    const build = ({ idempotency, effect }: World) => {
      const handler = batchHandler<{ id: string }>(
        { idempotency: idempotency(), onFailure: () => undefined },
        async ({ body, attributes }, { step }) => {
          if (body.id === 'order-2' && attributes.ApproximateReceiveCount === '1') throw new RetryLater()
          await step('charge', ({ idempotencyKey }) => effect('charge', { idempotencyKey, of: body.id }))
        },
      )
      return (...[event, context]: Parameters<typeof handler>) => {
        seen.push(
          event.Records.map(({ body, attributes }) => `${JSON.parse(body).id} ${attributes.ApproximateReceiveCount}`),
        )
        return handler(event, context)
      }
    }
    await verifyIdempotent(build, ORDERS)
    expect(seen.slice(0, 3)).toEqual([['order-1 1', 'order-2 1'], ['order-2 2'], ['order-1 2', 'order-2 3']])
  })

  test('of an HTTP client: the same request under another request id', async () => {
    const ids: string[] = []
    await verifyHttp(async ({ step }, { effect }, event) => {
      ids.push(event.requestContext.requestId)
      event.body = 'parsed by somebody'
      await step('charge', ({ idempotencyKey }) => effect('charge', { idempotencyKey }))
    })
    expect(new Set(ids).size).toBeGreaterThan(5)
    expect(JSON.parse(ORDER.body ?? '')).toEqual({ cents: 100 })
  })

  test('of an asynchronous invocation: the same, request id included', async () => {
    const build = ({ idempotency, effect }: World) => {
      const { run } = idempotency()
      return async (_event: object, context: { awsRequestId: string; getRemainingTimeInMillis(): number }) => {
        const request = { key: context.awsRequestId, fingerprint: false, context, asyncInvocation: true } as const
        await run(request, ({ step }) => step('charge', ({ idempotencyKey }) => effect('charge', { idempotencyKey })))
      }
    }
    expect(await said(verifyIdempotent(build, { detail: 1 }, { asyncInvocation: true }))).toBe('passed')
    expect(await said(verifyIdempotent(build, { detail: 1 }))).toContain('happened 2 times')
  })
})

test('what a handler writes is heard from undisturbed deliveries only', async () => {
  const write = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const build = ({ idempotency, effect }: World) =>
    batchHandler({ idempotency: idempotency() }, async ({ attributes }, { step }) => {
      console.error(`receive ${attributes.ApproximateReceiveCount}`)
      await step('charge', ({ idempotencyKey }) => effect('charge', { idempotencyKey }))
    })
  await verifyIdempotent(build, sqsEvent({ body: 1 }))
  expect(write.mock.calls).toEqual([['receive 1']])
  console.error('afterwards')
  expect(write).toHaveBeenLastCalledWith('afterwards')
  write.mockRestore()
})
