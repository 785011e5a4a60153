import { describe, expect, test } from 'vitest'
import { batchHandler } from '../../lib/batch/index.ts'
import { idempotent } from '../../lib/http/index.ts'
import { httpApiEvent, sqsEvent, verifyIdempotent, type World } from '../../lib/testing/index.ts'
import { ORDER, said, verifyHttp, verifyRun } from './set-up.ts'

const charging = ({ idempotency, effect }: World) =>
  idempotent({ idempotency: idempotency() }, async () => {
    await effect('charge')
    return { statusCode: 201 }
  })

describe('a handler that never settles', () => {
  test('because it waits for what never comes: it is said where', async () => {
    const message = await said(
      verifyHttp(
        async (_operation, { effect }) => {
          await effect('charge')
          await new Promise(() => undefined)
        },
        { patienceSeconds: 0.1 },
      ),
    )
    expect(message).toContain('UnverifiableError: The handler never settles: it waits after the effect "charge"')
  })

  test('only after a fault: that is said, too', async () => {
    const message = await said(
      verifyHttp(
        ({ step }, { effect }) =>
          step('charge', ({ idempotencyKey }) =>
            effect('charge', { idempotencyKey }).catch(() => new Promise<undefined>(() => undefined)),
          ),
        { patienceSeconds: 0.1 },
      ),
    )
    expect(message).toContain('never settles (the effect "charge" done and its answer lost)')
  })

  test('because it goes on for ever', async () => {
    const forEver = async (wait: () => Promise<unknown>) => {
      for (;;) await wait()
    }
    const pausing = verifyHttp((_operation, { clock }) => forEver(() => clock.wait(0)))
    expect(await said(pausing)).toContain('The handler never settles: it goes on for ever after the claim.')
    const charges = verifyHttp((_operation, { effect }) => forEver(() => effect('charge')))
    expect(await said(charges)).toContain('it goes on for ever after the effect "charge".')
  })

  test('within its time', async () => {
    const message = await said(verifyHttp((_operation, { clock }) => clock.wait(40_000)))
    expect(message).toContain('does not end within its 30 s: it is killed after the takeover.')
    const longer = verifyHttp((_operation, { clock }) => clock.wait(40_000), { timeoutSeconds: 60 })
    expect(await said(longer)).toContain('nothing to verify')
  })
})

describe('nothing to verify', () => {
  test('an event without a key', async () => {
    const message = await said(verifyIdempotent(charging, httpApiEvent({ key: null })))
    expect(message).toContain('UnverifiableError: No operation was claimed: the handler answered 400 with')
    expect(message).toContain('idempotency key')
  })

  test('a handler without an effect', async () => {
    expect(await said(verifyRun(() => 'nothing'))).toContain(
      'There is nothing to verify: no effect happened; the handler answered "nothing". Call effect(name)',
    )
  })

  test('an effect that is named and never happens', async () => {
    const message = await said(verifyIdempotent(charging, ORDER, { effects: { chrage: 'once' } }))
    expect(message).toContain(
      'effects names "chrage", which never happens: call effect(…) for it. What happens: "charge".',
    )
  })

  test('an event that is no plain data', async () => {
    const message = await said(verifyIdempotent(() => () => undefined, { call: () => 1 }))
    expect(message).toContain('The event must be plain data')
  })
})

describe('a handler that fails by itself', () => {
  test('an effect that throws', async () => {
    const message = await said(
      verifyRun(async (_operation, { effect }) => {
        await effect('charge')
        throw new TypeError('cents is undefined')
      }),
    )
    expect(message).toContain('UnverifiableError: The handler fails without any fault: it threw')
    expect(message).toContain(
      'delivery 1: the claim; the effect "charge"; the writing of the failure; threw TypeError: cents is undefined',
    )
  })

  test('one that answers 500', async () => {
    const build = ({ idempotency }: World) =>
      idempotent({ idempotency: idempotency() }, async () => ({ statusCode: 500 }))
    expect(await said(verifyIdempotent(build, ORDER))).toContain('fails without any fault: it answered 500')
  })

  test('a batch whose message fails', async () => {
    const build = ({ idempotency }: World) =>
      batchHandler({ idempotency: idempotency(), onFailure: () => undefined }, () => {
        throw new Error('declined')
      })
    const event = sqsEvent({ messageId: 'message-1', body: 1 })
    expect(await said(verifyIdempotent(build, event))).toContain(
      'fails without any fault: it failed: message message-1',
    )
  })

  test('one that cannot be built', async () => {
    const failing = () => {
      throw new Error('no table name')
    }
    expect(await said(verifyIdempotent(failing, ORDER))).toBe(
      'UnverifiableError: The handler could not be built: no table name.',
    )
    // @ts-expect-error a handler is a function
    expect(await said(verifyIdempotent(() => undefined, ORDER))).toContain('it gave no function')
  })

  test('one that is never done after a fault', async () => {
    const message = await said(
      verifyRun(({ step, attempt }, { effect }) =>
        step('charge', async ({ idempotencyKey }) => {
          await effect('charge', { idempotencyKey })
          if (attempt > 1) throw new Error('I have seen this before')
        }),
      ),
    )
    expect(message).toContain('The handler is never done: after 20 deliveries (crash after the claim')
  })

  test('one that is never done', async () => {
    let order = 0
    const build = ({ idempotency, effect }: World) => {
      const { run } = idempotency()
      return async () => {
        await run({ key: `order-${order++}`, fingerprint: false }, () => effect('charge', { idempotencyKey: 'same' }))
      }
    }
    expect(await said(verifyIdempotent(build, { id: 1 }))).toContain('The handler is never done: after 20 deliveries')
  })
})

describe('wrong arguments', () => {
  test.each([
    [
      { effects: { charge: 'twice' } },
      'effects.charge must be "once" or "at-most-once" or "at-least-once"; got "twice".',
    ],
    [{ effects: null }, 'effects must be'],
    [{ deliveries: 1 }, 'deliveries must be a whole number from 2 to 10; got 1.'],
    [{ faults: 3 }, 'faults must be a whole number from 1 to 2; got 3.'],
    [{ timeoutSeconds: 0 }, 'timeoutSeconds must be'],
    [{ patience: 1 }, 'verifyIdempotent has no option "patience".'],
  ])('the option %j is refused', async (options, message) => {
    const verifying = verifyIdempotent(charging, ORDER, options as never)
    expect(await said(verifying)).toContain(`InvalidOptionError: ${message}`)
  })

  test('a handler instead of what makes it', async () => {
    expect(await said(verifyIdempotent({} as never, ORDER))).toContain(
      'build must be a function that makes the handler',
    )
  })

  test.each([
    [['', {}], 'name must be a text'],
    [['charge', { key: 'k' }], 'has no option "key"'],
    [['charge', { idempotencyKey: 7 }], 'effect("charge", { idempotencyKey }) must be a text; got 7.'],
  ])('an effect called with %j is the test’s mistake, whatever the handler makes of it', async (args, message) => {
    const verifying = verifyHttp((_operation, { effect }) =>
      effect(...(args as ['charge', object])).catch(() => undefined),
    )
    expect(await said(verifying)).toContain(message)
  })
})
