import { describe, expect, test } from 'vitest'
import { createIdempotency, type Idempotency, type IdempotencyOptions, type Operation } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'

const NO_SCOPE = 'scope was given and is undefined: everybody would share one. Leave it out when there is none.'

/** As a caller without types, or with a wrong one, writes it. */
type Untyped = { readonly [K in keyof Idempotency]: (...args: unknown[]) => unknown }

function setUp() {
  const store = memoryStore()
  const idempotency = createIdempotency({ store, namespace: 'payments' })
  return { store, calls: idempotency as unknown as Untyped, idempotency }
}

const work = () => 1
const name = { key: 'k' }
const asked = { key: 'k', input: 1 }
const invalid = (message: string) => ({ code: 'INVALID_OPTION', message: expect.stringContaining(message) })
const missingKey = { code: 'MISSING_KEY' }

describe('a wrong call rejects with one clear error, and claims nothing', () => {
  test.each<[string, (calls: Untyped) => unknown, object]>([
    [
      'run() without a request',
      (c) => c.run(undefined, work),
      invalid('run expects an options object; got undefined.'),
    ],
    ['run(null)', (c) => c.run(null, work), invalid('run expects an options object; got null.')],
    ['run("k")', (c) => c.run('k', work), invalid('run expects an options object; got "k".')],
    ['run([…])', (c) => c.run(['k'], work), invalid('run expects an options object; got an array.')],
    ['run without work', (c) => c.run(asked), invalid('work must be a function; got undefined.')],
    [
      'run({ scop })',
      (c) => c.run({ ...asked, scop: 't' }, work),
      invalid('run has no option "scop". It takes: key, scope'),
    ],
    ['run({ scope: undefined })', (c) => c.run({ ...asked, scope: undefined }, work), invalid(NO_SCOPE)],
    ['run({ scope: null })', (c) => c.run({ ...asked, scope: null }, work), invalid('scope[0] must be a string')],
    [
      'run({ context: 5 })',
      (c) => c.run({ ...asked, context: 5 }, work),
      invalid('context must be Lambda’s context; got 5.'),
    ],
    [
      'run({ asyncInvocation: 1 })',
      (c) => c.run({ ...asked, asyncInvocation: 1 }, work),
      invalid('asyncInvocation must be true'),
    ],
    [
      'acquire(key)',
      (c) => c.acquire('k'),
      invalid('acquire expects an options object; got undefined. It takes: ttlSeconds'),
    ],
    ['acquire(key, 5)', (c) => c.acquire('k', 5), invalid('acquire expects an options object; got 5.')],
    ['acquire()', (c) => c.acquire(undefined, { ttlSeconds: 1 }), missingKey],
    ['acquire({ scope })', (c) => c.acquire({ scope: 't' }, { ttlSeconds: 1 }), missingKey],
    [
      'acquire({ scop })',
      (c) => c.acquire({ ...name, scop: 't' }, { ttlSeconds: 1 }),
      invalid('acquire has no option "scop"'),
    ],
    [
      'acquire({ scope: undefined })',
      (c) => c.acquire({ ...name, scope: undefined }, { ttlSeconds: 1 }),
      invalid(NO_SCOPE),
    ],
    ['settle()', (c) => c.settle(), invalid('takes exactly one of { value }')],
    [
      'settle(undefined, …)',
      (c) => c.settle(undefined, { rerun: true }),
      invalid('settle expects an options object; got undefined.'),
    ],
    ['settle({}, …)', (c) => c.settle({}, { rerun: true }), missingKey],
    [
      'settle({ scop }, …)',
      (c) => c.settle({ ...name, scop: 't' }, { rerun: true }),
      invalid('settle has no option "scop"'),
    ],
    [
      'settle({ scope: undefined }, …)',
      (c) => c.settle({ ...name, scope: undefined }, { rerun: true }),
      invalid(NO_SCOPE),
    ],
    ['settle(…, null)', (c) => c.settle(name, null), invalid('takes exactly one of { value }')],
    [
      'settle(…, { rerun, force })',
      (c) => c.settle(name, { rerun: true, force: true }),
      invalid('settle has no option "force"'),
    ],
    ['signal()', (c) => c.signal(), invalid('signal expects an options object; got undefined. It takes: key, scope.')],
    ['signal({})', (c) => c.signal({}), missingKey],
    ['signal({ scop })', (c) => c.signal({ ...name, scop: 't' }), invalid('signal has no option "scop"')],
    ['signal({ scope: undefined })', (c) => c.signal({ ...name, scope: undefined }), invalid(NO_SCOPE)],
    [
      'signal(…, null)',
      (c) => c.signal(name, 1, null),
      invalid('signal expects an options object; got null. It takes: id.'),
    ],
    [
      'signal(…, { id: null })',
      (c) => c.signal(name, 1, { id: null }),
      invalid('id must be a text of 1 to 255 bytes; got null.'),
    ],
    ['receipts()', (c) => c.receipts(), invalid('receipts expects an options object; got undefined.')],
    ['receipts("k")', (c) => c.receipts('k'), invalid('receipts expects an options object; got "k".')],
    ['receipts({})', (c) => c.receipts({}), missingKey],
    ['receipts({ scop })', (c) => c.receipts({ ...name, scop: 't' }), invalid('receipts has no option "scop"')],
    ['receipts({ scope: undefined })', (c) => c.receipts({ ...name, scope: undefined }), invalid(NO_SCOPE)],
  ])('%s', async (_name, call, error) => {
    const { store, calls } = setUp()
    const answer = call(calls)
    expect(answer).toBeInstanceOf(Promise)
    await expect(answer).rejects.toMatchObject(error)
    expect(store.records()).toEqual([])
  })
})

describe('a wrong wrap is refused where it is set up', () => {
  const key = () => 'k'
  test.each<[string, unknown[], string]>([
    ['no options', [work], 'wrap expects an options object; got undefined. It takes: key, scope'],
    ['options that are null', [work, null], 'wrap expects an options object; got null.'],
    ['no function', [undefined, { key }], 'wrap(work, { key }) needs a function and a key selector'],
    ['no key selector', [work, {}], 'wrap(work, { key }) needs a function and a key selector'],
    ['a misspelt scope', [work, { key, scop: () => 't' }], 'wrap has no option "scop"'],
    ['a scope that is no selector', [work, { key, scope: 't' }], 'scope must be a function; got "t".'],
    ['a scope selector that is undefined', [work, { key, scope: undefined }], NO_SCOPE],
    ['an input that is no selector', [work, { key, input: true }], 'input must be a function; got true.'],
    ['a context that is no selector', [work, { key, context: {} }], 'context must be a function; got an object.'],
    [
      'asyncInvocation that is no boolean',
      [work, { key, asyncInvocation: 'yes' }],
      'asyncInvocation must be true or false',
    ],
  ])('%s', (_name, args, message) => {
    expect(() => setUp().calls.wrap(...args)).toThrow(expect.objectContaining(invalid(message)))
  })

  test('a scope selector that finds none refuses the call', async () => {
    const { store, idempotency } = setUp()
    const once = idempotency.wrap(work, { key, scope: () => undefined as never })
    await expect(once()).rejects.toMatchObject(invalid(NO_SCOPE))
    expect(store.records()).toEqual([])
  })
})

describe('a step with wrong options is refused, and does not run', () => {
  test.each<[string, unknown, string]>([
    ['null', null, 'step("charge") expects an options object; got null.'],
    ['a number', 3, 'step("charge") expects an options object; got 3.'],
    ['a retry that is a number', { retry: 3 }, 'step("charge"): retry must be a policy, an object; got 3.'],
    ['a retry that is null', { retry: null }, 'step("charge"): retry must be a policy, an object; got null.'],
    ['a retry with a misspelt option', { retry: { attempts: 3 } }, 'retry has no option "attempts"'],
  ])('%s', async (_name, options, message) => {
    const charged: string[] = []
    const run = setUp().idempotency.run(asked, ({ step }: Operation) =>
      step('charge', () => charged.push('once'), options as never),
    )
    await expect(run).rejects.toMatchObject(invalid(message))
    expect(charged).toEqual([])
  })
})

describe('a store without one of its methods is refused at construction', () => {
  test.each([
    'put',
    'update',
    'get',
    'prepare',
    'putBeside',
    'updateBeside',
    'listBeside',
    'listDue',
    'putParts',
    'getParts',
  ])('%s', (method) => {
    const options = { store: { ...memoryStore(), [method]: undefined }, namespace: 'payments' }
    expect(() => createIdempotency(options as unknown as IdempotencyOptions)).toThrow(
      `store must be a Store, such as dynamoStore({ tableName }); got an object without ${method}().`,
    )
  })
})

test('a request may leave out what it has not: a context that is undefined is none', async () => {
  const { calls } = setUp()
  expect(await calls.run({ ...asked, context: undefined, metadata: undefined }, work)).toMatchObject({ value: 1 })
})
