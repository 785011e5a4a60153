import { describe, expect, test } from 'vitest'
import {
  BATCH_DEFAULTS,
  batchHandler,
  eachRecord,
  type IdempotentBatchOptions,
  idempotentBatch,
} from '../../lib/batch/index.ts'
import { createIdempotency, InvalidOptionError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'

const idempotency = createIdempotency({ store: memoryStore(), namespace: 'payments' })

describe('a wrong option is refused when the middleware is made', () => {
  test.each<[string, unknown, RegExp]>([
    ['no options', undefined, /expects an options object; got undefined/],
    ['null', null, /expects an options object; got null/],
    ['no idempotency', {}, /idempotency must be made by createIdempotency.*got undefined/],
    ['a misspelt option', { idempotency, keys: () => '' }, /has no option "keys"/],
    ['key', { idempotency, key: 'orderId' }, /key must be a function; got "orderId"/],
    ['scope', { idempotency, scope: '' }, /scope must name who asks; got ""/],
    ['scope', { idempotency, scope: [] }, /scope must name who asks; got an array/],
    ['scope', { idempotency, scope: [7] }, /scope\[0\] must be a string/],
    ['fingerprint', { idempotency, fingerprint: true }, /fingerprint must be a function; got true/],
    ['parse', { idempotency, parse: 'json' }, /parse must be a function; got "json"/],
    ['schema', { idempotency, schema: {} }, /schema must follow Standard Schema.*got an object/],
    ['schema', { idempotency, schema: null }, /schema must follow Standard Schema.*got null/],
    ['poison', { idempotency, poison: 'drop' }, /poison must be "fail" or "ack"; got "drop"/],
    ['concurrency', { idempotency, concurrency: 0 }, /concurrency must be a whole number from 1 to 10000; got 0/],
    ['concurrency', { idempotency, concurrency: 1.5 }, /concurrency .*; got 1.5/],
    ['groupCommit', { idempotency, groupCommit: 'yes' }, /groupCommit must be true or false; got "yes"/],
    ['fifo', { idempotency, fifo: 'strict' }, /fifo must be "group" or "batch"; got "strict"/],
    ['the margin', { idempotency, deadlineMarginSeconds: -1 }, /deadlineMarginSeconds must be .*; got -1/],
    ['the margin', { idempotency, deadlineMarginSeconds: 1e9 }, /looks like milliseconds/],
    ['changeVisibility', { idempotency, changeVisibility: {} }, /changeVisibility must be a function; got an object/],
    ['onFailure', { idempotency, onFailure: 'log' }, /onFailure must be a function; got "log"/],
  ])('%s', (_name, options, message) => {
    const given = options as IdempotentBatchOptions as never
    for (const make of [() => idempotentBatch(given), () => batchHandler(given, () => undefined)]) {
      expect(make).toThrow(InvalidOptionError)
      expect(make).toThrow(message)
    }
  })

  test('and so is a handler that is no function', () => {
    expect(() => batchHandler({ idempotency }, 'handler' as never)).toThrow(/handle must be a function; got "handler"/)
    expect(() => eachRecord({} as never)).toThrow(/handle must be a function; got an object/)
  })
})

test('the defaults are those of the documentation', () => {
  expect(BATCH_DEFAULTS).toEqual({
    poison: 'fail',
    concurrency: 10,
    groupCommit: true,
    fifo: 'group',
    deadlineMarginSeconds: 1,
  })
})
