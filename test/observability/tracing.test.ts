import { describe, expect, test } from 'vitest'
import type { Trace, Tracing } from '../../lib/index.ts'
import { codeOf, ORDER, setUp } from '../core/harness.ts'

/** A trace that keeps nothing and lets everything run. */
const SILENT: Trace = {
  context: undefined,
  saw: () => undefined,
  within: (_part, run) => run(),
  end: () => undefined,
}
const tracingBy = (trace: Partial<Trace>): Tracing => ({ begin: () => ({ ...SILENT, ...trace }) })
const broken = () => {
  throw new Error('The tracer is broken.')
}

describe('whatever a tracer does, the operation comes to the same', () => {
  test.each<[what: string, tracing: Tracing]>([
    ['works', tracingBy({})],
    ['cannot begin', { begin: broken }],
    ['throws wherever it is called', tracingBy({ saw: broken, within: broken, end: broken })],
    ['never runs the part', tracingBy({ within: () => undefined })],
    ['runs a part twice', tracingBy({ within: (_part, run) => Promise.all([run(), run()]) })],
    ['rejects', tracingBy({ within: async () => broken(), end: (async () => broken()) as never })],
  ])('when it %s', async (_what, tracing) => {
    const ran: string[] = []
    const { idempotency, types } = setUp({ tracing })
    const { value } = await idempotency.run(ORDER, async (operation) => {
      ran.push('work')
      await operation.step('charge', () => ran.push('step'))
      return operation.commit('done')
    })
    const error = new Error('of the work')
    await expect(idempotency.run({ key: 'other', input: 1 }, () => Promise.reject(error))).rejects.toBe(error)
    expect(await codeOf(idempotency.run({ ...ORDER, input: 'other' }, () => 'mismatch'))).toBe('MISMATCH')
    expect(value).toBe('done')
    expect(ran).toEqual(['work', 'step'])
    expect(types()).toEqual(['claimed', 'completed', 'claimed', 'failed', 'mismatched'])
  })
})

test('a traced operation still refuses what is no step, and knows its signal only when asked', async () => {
  const { idempotency } = setUp({ tracing: tracingBy({}) })
  const code = codeOf(idempotency.run(ORDER, (operation) => operation.step('charge', 'no function' as never)))
  expect(await code).toBe('INVALID_OPTION')
  await idempotency.run({ key: 'other', input: 1 }, (operation) => {
    expect(Object.keys(operation)).toContain('step')
    expect(Object.isFrozen(operation)).toBe(true)
    expect(operation.signal.aborted).toBe(false)
  })
})
