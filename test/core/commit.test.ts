import { describe, expect, test } from 'vitest'
import {
  type CommitConflictError,
  type CommitPlan,
  isLambdaOnceError,
  LeaseLostError,
  NoEffectError,
  type Operation,
  type OperationRecord,
  PermanentError,
  StoreError,
  type TransactWrite,
  UnknownOutcomeError,
} from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { MESSAGE, QUEUE_URL, setUpCommits, WRITE } from './commit-harness.ts'
import { codeOf, ORDER } from './harness.ts'

const FULL: CommitPlan = { writes: [WRITE], messages: [MESSAGE], receipt: { charge: 'ch_1' } }
const untilTheEnd = (fault: 'not-applied' | 'answer-lost') => Array.from({ length: 500 }, () => fault)
const INVOCATION = { getRemainingTimeInMillis: () => 10_000 }

describe('a commit', () => {
  test('writes value, writes, message and receipt together, and a repetition is answered with the value', async () => {
    const { idempotency, memory, record, outbox, receiptItems, store } = setUpCommits()
    const first = await idempotency.run(ORDER, ({ commit }) => commit({ paid: true }, FULL))
    expect(first).toEqual({ value: { paid: true }, replayed: false, attempt: 1 })
    expect(memory.commits().map(({ writes }) => writes)).toEqual([[WRITE]])
    expect(await outbox()).toMatchObject([{ to: { queueUrl: QUEUE_URL }, state: 'pending', position: 0 }])
    expect(await receiptItems()).toMatchObject([{ kind: 'confirmed', attempt: 1 }])
    expect(record()).toMatchObject({ status: 'COMPLETED', commitId: expect.any(String) })
    expect(store.calls).toEqual(['put', 'commit'])

    const second = await idempotency.run(ORDER, () => {
      throw new Error('not to be run')
    })
    expect(second).toEqual({ value: { paid: true }, replayed: true, attempt: 1 })
  })

  test('takes the record out of the index', async () => {
    const { idempotency, record } = setUpCommits()
    await idempotency.run(ORDER, async ({ commit }) => {
      expect(record()).toMatchObject({ dueShard: 'payments#0' })
      await commit('done')
    })
    expect(record()).not.toHaveProperty('dueShard')
    expect(record()).not.toHaveProperty('dueAtMs')
  })

  test.each([
    ['nothing', undefined],
    ['an equal value', { paid: true }],
  ])('lets the work return %s', async (_what, returned) => {
    const { idempotency } = setUpCommits()
    const run = idempotency.run(ORDER, async ({ commit }) => {
      await commit({ paid: true })
      return returned
    })
    expect((await run).value).toEqual({ paid: true })
    expect((await idempotency.run(ORDER, () => undefined)).value).toEqual({ paid: true })
  })

  test('of one value, with another one returned, is told to the caller; the committed value stays', async () => {
    const { idempotency, memory } = setUpCommits()
    const run = idempotency.run(ORDER, async ({ commit }) => {
      await commit('committed', { writes: [WRITE] })
      return 'other'
    })
    expect(await codeOf(run)).toBe('COMMITTED_OTHERWISE')
    expect((await idempotency.run<string>(ORDER, () => 'again')).value).toBe('committed')
    expect(memory.commits()).toHaveLength(1)
  })

  test('of a value that is changed afterwards, and returned, is told to the caller', async () => {
    const { idempotency } = setUpCommits()
    const run = idempotency.run(ORDER, async ({ commit }) => {
      const value = { lines: ['a'] }
      const committing = commit(value)
      value.lines.push('b')
      return committing
    })
    expect(await codeOf(run)).toBe('COMMITTED_OTHERWISE')
    expect((await idempotency.run<unknown>(ORDER, () => 0)).value).toEqual({ lines: ['a'] })
  })

  test('lets the work return what is stored alike', async () => {
    const { idempotency } = setUpCommits()
    const value = () => ({
      bytes: Buffer.from('a'),
      at: new Date(0),
      url: new URL('https://a.example'),
      none: undefined,
    })
    await idempotency.run(ORDER, async ({ commit }) => {
      await commit(value())
      return value()
    })
    expect((await idempotency.run<unknown>(ORDER, () => 0)).value).toEqual(value())
  })

  test.each([
    ['an error', () => new Error('after')],
    ['NoEffectError', () => new NoEffectError()],
    ['PermanentError', () => new PermanentError('never')],
  ])('answers its value when the work throws %s afterwards', async (_what, error) => {
    const { idempotency, record } = setUpCommits()
    const { value } = await idempotency.run(ORDER, async ({ commit }) => {
      await commit('committed', FULL)
      throw error()
    })
    expect(value).toBe('committed')
    expect(record()?.status).toBe('COMPLETED')
  })

  test('is the end: no second one, no step, no longer lease, and no suspension', async () => {
    const { idempotency, record, memory } = setUpCommits()
    let ran = false
    const run = idempotency.run(ORDER, async (operation) => {
      await operation.commit('committed')
      expect(await codeOf(operation.commit('again'))).toBe('LEASE_LOST')
      expect(await codeOf(operation.extend(60))).toBe('LEASE_LOST')
      const step = operation.step('late', () => {
        ran = true
      })
      expect(await codeOf(step)).toBe('LEASE_LOST')
      return operation.delay({ seconds: 1 })
    })
    expect(await codeOf(run)).toBe('COMMITTED_OTHERWISE')
    expect(ran).toBe(false)
    expect(record()?.status).toBe('COMPLETED')
    expect(memory.commits()).toHaveLength(1)
  })

  test('that is running lets no second one and no step begin', async () => {
    const { idempotency, memory } = setUpCommits()
    let ran = false
    await idempotency.run(ORDER, async ({ commit, step }) => {
      const running = commit('first')
      expect(await codeOf(commit('second'))).toBe('STEP_NOT_AWAITED')
      const late = step('late', () => {
        ran = true
      })
      expect(await codeOf(late)).toBe('LEASE_LOST')
      return running
    })
    expect(ran).toBe(false)
    expect(memory.commits()).toHaveLength(1)
  })

  test('is refused while a step runs, and possible when it has ended', async () => {
    const { idempotency, record } = setUpCommits()
    await idempotency.run(ORDER, async ({ commit, step }) => {
      const { promise, resolve } = Promise.withResolvers<string>()
      const running = step('charge', () => promise)
      expect(await codeOf(commit('too early'))).toBe('STEP_NOT_AWAITED')
      resolve('charged')
      await running
      return commit('committed')
    })
    expect(record()).toMatchObject({ status: 'COMPLETED', steps: { charge: { kind: 'done' } } })
  })

  test('does not hide that a step is unknown', async () => {
    const { idempotency, record, clock, memory } = setUpCommits()
    const crashed = idempotency.run({ ...ORDER, context: INVOCATION }, ({ step }) =>
      step('charge', () => new Promise(() => undefined), { onUnknown: 'stop' }),
    )
    await Promise.race([crashed, new Promise((resolve) => setImmediate(resolve))])
    clock.advance(20_000)
    const run = idempotency.run(ORDER, async ({ step, commit }) => {
      await step('charge', () => 'again', { onUnknown: 'stop' }).catch(() => undefined)
      return commit('committed', FULL)
    })
    expect(await run.catch((error: unknown) => error)).toBeInstanceOf(UnknownOutcomeError)
    expect(record()?.status).toBe('UNKNOWN')
    expect(memory.commits()).toEqual([])
  })

  test('replaces a release that was asked for', async () => {
    const { idempotency, record } = setUpCommits()
    await idempotency.run(ORDER, async ({ commit, release }) => {
      release()
      return commit('committed')
    })
    expect(record()?.status).toBe('COMPLETED')
  })

  test('keeps a large value and a large message in parts', async () => {
    const { idempotency, outbox, memory } = setUpCommits()
    const value = Array.from({ length: 60_000 }, () => crypto.randomUUID()).join()
    const body = value.slice(0, 1_000_000)
    await idempotency.run(ORDER, ({ commit }) => commit(value, { messages: [{ ...MESSAGE, body }] }))
    expect((await idempotency.run<string>(ORDER, () => '')).value).toBe(value)
    const [item] = await outbox()
    expect(item?.body).toMatchObject({ kind: 'parts' })
    expect(JSON.stringify(memory.records()).length).toBeLessThan(2_000)
  })
})

describe('a commit that is not awaited', () => {
  test('is waited for when the work throws, and its value is the answer', async () => {
    const { idempotency, record } = setUpCommits()
    const { value } = await idempotency.run(ORDER, async ({ commit }) => {
      void commit('committed', FULL)
      throw new Error('beside it')
    })
    expect(value).toBe('committed')
    expect(record()?.status).toBe('COMPLETED')
  })

  test('is waited for when the work returns another value, and its value is the answer', async () => {
    const { idempotency, record, memory } = setUpCommits()
    const { value } = await idempotency.run<string>(ORDER, async ({ commit }) => {
      void commit('committed', FULL)
      return 'returned'
    })
    expect(value).toBe('committed')
    expect(record()?.status).toBe('COMPLETED')
    expect(memory.commits()).toHaveLength(1)
  })

  test('and fails after the work has thrown lets no step begin any more', async () => {
    const conflict = () => [{ index: 0, isStale: false }]
    const { idempotency, record } = setUpCommits({}, { transact: conflict })
    let ran = false
    let late: Promise<unknown> = Promise.resolve()
    const run = idempotency.run(ORDER, async ({ commit, step }) => {
      late = commit('committed', { writes: [WRITE] }).catch(() =>
        Promise.resolve().then(() =>
          step('late', () => {
            ran = true
          }),
        ),
      )
      throw new Error('beside it')
    })
    expect(await codeOf(run)).toBe('Error: beside it')
    expect(await codeOf(late)).toBe('LEASE_LOST')
    expect(ran).toBe(false)
    expect(record()?.status).toBe('FAILED')
  })
})

describe('a condition of the caller’s own that does not hold', () => {
  const item = { id: 'row-1', amount: 7 }
  const OTHER: TransactWrite = { Put: { TableName: 'ledger', Item: { id: 'row-2' } } }

  test('is told with its place and the item; the operation is open, and a second commit works', async () => {
    let refusals = 1
    const transact = () => (refusals-- > 0 ? [{ index: 1, item, isStale: false }] : [])
    const { idempotency, memory, record, outbox, receiptItems } = setUpCommits({}, { transact })
    await idempotency.run(ORDER, async ({ commit, step }) => {
      const error: unknown = await commit('first', { ...FULL, writes: [OTHER, WRITE] }).catch((thrown) => thrown)
      if (!isLambdaOnceError(error, 'COMMIT_CONFLICT')) throw error
      expect(error as CommitConflictError).toMatchObject({ index: 1, item, isStale: false, retryable: false })
      expect(record()?.status).toBe('IN_PROGRESS')
      expect([await outbox(), await receiptItems(), memory.commits()]).toEqual([[], [], []])
      const row = await step('read', () => 'other row')
      return commit(row, FULL)
    })
    expect(record()).toMatchObject({ status: 'COMPLETED', steps: { read: { kind: 'done' } } })
    expect(await outbox()).toHaveLength(1)
    expect(memory.commits()).toHaveLength(1)
  })

  test('and is not caught fails the operation as any error of the work does', async () => {
    const { idempotency, record } = setUpCommits({}, { transact: () => [{ index: 0, isStale: false }] })
    expect(await codeOf(idempotency.run(ORDER, ({ commit }) => commit(1, FULL)))).toBe('COMMIT_CONFLICT')
    expect(record()?.status).toBe('FAILED')
  })

  test('allows a release, for nothing of it was written', async () => {
    const { idempotency, record } = setUpCommits({}, { transact: () => [{ index: 0, isStale: false }] })
    const run = idempotency.run(ORDER, async ({ commit }) => {
      await commit(1, FULL).catch(() => undefined)
      throw new NoEffectError()
    })
    expect(await codeOf(run)).toBe('NO_EFFECT')
    expect(record()?.status).toBe('RELEASED')
  })

  test.each(['skip', 'fail'] as const)('for being stale, with onStale: %s', async (onStale) => {
    const guarded = {
      write: { Put: { TableName: 'ledger', Item: { id: 'row-1', version: 3 } } },
      ifNewer: { attribute: 'version', value: 3 },
      onStale,
    }
    const isGuarded = (write: object) => 'ifNewer' in write
    const { idempotency, memory, record, outbox } = setUpCommits(
      {},
      {
        transact: (writes) =>
          writes.flatMap((write, index) => (isGuarded(write) ? [{ index, item, isStale: true }] : [])),
      },
    )
    const run = idempotency.run(ORDER, ({ commit }) => commit('value', { ...FULL, writes: [OTHER, guarded] }))
    if (onStale === 'fail') {
      expect(await run.catch((error: unknown) => error)).toMatchObject({
        code: 'COMMIT_CONFLICT',
        index: 1,
        isStale: true,
      })
      expect(memory.commits()).toEqual([])
      return
    }
    expect((await run).value).toBe('value')
    expect(memory.commits().map(({ writes }) => writes)).toEqual([[OTHER]])
    expect(record()?.status).toBe('COMPLETED')
    expect(await outbox()).toHaveLength(1)
  })
})

describe('when the store fails at a commit', () => {
  test.each(['answer-lost', 'not-applied'] as const)('once (%s), it is repeated and written once', async (fault) => {
    const { idempotency, memory, outbox, receiptItems } = setUpCommits({}, { faults: { commit: [fault] } })
    expect((await idempotency.run(ORDER, ({ commit }) => commit('value', FULL))).value).toBe('value')
    expect(memory.commits()).toHaveLength(1)
    expect([(await outbox()).length, (await receiptItems()).length]).toEqual([1, 1])
  })

  test('and its answer is lost after the token’s time, it recognises its own commit by its id', async () => {
    const memory = memoryStore()
    let calls = 0
    const { idempotency } = setUpCommits({
      store: {
        ...memory,
        async prepare(...args) {
          const prepared = await memory.prepare(...args)
          return {
            async commit(change, condition, token) {
              calls++
              // As if DynamoDB had forgotten the request token by the second try.
              const answer = await prepared.commit(change, condition, `${token}-${calls}`)
              if (calls === 1) throw new StoreError('The answer was lost.', { retryable: true })
              return answer
            },
          }
        },
      },
    })
    const run = idempotency.run(ORDER, ({ commit }) => commit('value', FULL))
    expect(await run).toEqual({ value: 'value', replayed: false, attempt: 1 })
    expect(calls).toBe(2)
    expect(memory.commits()).toHaveLength(1)
    expect(memory.records()[0]?.status).toBe('COMPLETED')
  })

  test.each(['answer-lost', 'not-applied'] as const)(
    'until the deadline (%s), giving the lease up finds out whether it was written',
    async (fault) => {
      const faults = { commit: untilTheEnd(fault) }
      const { idempotency, memory, clock, record, outbox, receiptItems } = setUpCommits({}, { faults })
      const work = ({ commit }: Operation) => commit('value', FULL)
      const first = await codeOf(idempotency.run({ ...ORDER, context: INVOCATION }, work))
      expect(first).toBe(fault === 'answer-lost' ? 'no error' : 'STORE')
      expect(record()?.status).toBe(fault === 'answer-lost' ? 'COMPLETED' : 'RETRYABLE')
      faults.commit.length = 0
      clock.advance(20_000)
      expect((await idempotency.run(ORDER, work)).value).toBe('value')
      expect(memory.commits()).toHaveLength(1)
      expect([(await outbox()).length, (await receiptItems()).length]).toEqual([1, 1])
    },
  )

  test('until the deadline, and it is applied late, after the work said that nothing happened', async () => {
    const memory = memoryStore()
    const late: (() => Promise<unknown>)[] = []
    let isDown = true
    const { idempotency, clock } = setUpCommits({
      store: {
        ...memory,
        async prepare(...args) {
          const prepared = await memory.prepare(...args)
          return {
            async commit(...call) {
              if (!isDown) return prepared.commit(...call)
              late.push(() => prepared.commit(...call))
              throw new StoreError('No answer.', { retryable: true })
            },
          }
        },
      },
    })
    const run = idempotency.run({ ...ORDER, context: INVOCATION }, async ({ commit }) => {
      await commit('value', FULL).catch(() => undefined)
      throw new NoEffectError()
    })
    expect(await codeOf(run)).toBe('NO_EFFECT')
    expect(memory.records()[0]?.status).not.toBe('RELEASED')
    for (const arrive of late) await arrive()
    isDown = false
    clock.advance(20_000)
    await idempotency.run(ORDER, ({ commit }) => commit('value', FULL))
    expect(memory.commits()).toHaveLength(1)
  })

  test('for good, nothing was written, and nothing is uncertain', async () => {
    const { idempotency, record } = setUpCommits({}, { faults: { commit: ['refused'] } })
    const run = idempotency.run(ORDER, async ({ commit }) => {
      expect(await codeOf(commit('value', FULL))).toBe('STORE')
      throw new NoEffectError()
    })
    expect(await codeOf(run)).toBe('NO_EFFECT')
    expect(record()?.status).toBe('RELEASED')
  })
})

describe('a commit of an execution that was overtaken', () => {
  test('throws LEASE_LOST and writes nothing, begins no step, and the winner’s answer stands', async () => {
    const { idempotency, clock, memory, record, outbox } = setUpCommits()
    let ran = false
    const loser = await idempotency
      .run({ ...ORDER, context: INVOCATION }, async ({ commit, step }) => {
        clock.advance(20_000)
        await idempotency.run(ORDER, (winner) => winner.commit('winner', { messages: [MESSAGE] }))
        const error: unknown = await commit('loser', FULL).catch((thrown) => thrown)
        expect(error).toBeInstanceOf(LeaseLostError)
        const late = step('late', () => {
          ran = true
        })
        expect(await codeOf(late)).toBe('LEASE_LOST')
        throw error
      })
      .catch((error: unknown) => error)
    expect(loser).toEqual({ value: 'winner', replayed: true, attempt: 2 })
    expect(ran).toBe(false)
    expect(memory.commits().map(({ writes }) => writes)).toEqual([[]])
    expect(await outbox()).toHaveLength(1)
    expect(record()).toMatchObject({ status: 'COMPLETED', attempt: 2 })
  })
})

describe('what is wrong with a commit is said before anything is sent:', () => {
  const large = { ...MESSAGE, body: Array.from({ length: 25_000 }, () => crypto.randomUUID()).join() }
  const cases: [name: string, value: unknown, plan: unknown, code: string, text: string][] = [
    ['a value that cannot be stored', { a: { b: () => 1 } }, FULL, 'OUTCOME_UNSTORABLE', '.a.b'],
    ['a receipt that cannot be stored', 1, { messages: [large], receipt: { f: () => 1 } }, 'OUTCOME_UNSTORABLE', '.f'],
    ['a plan that is none', 1, 'writes', 'INVALID_OPTION', 'plan must be an object'],
    ['an option that is none', 1, { write: [WRITE] }, 'INVALID_OPTION', '"write"'],
    ['writes that are no list', 1, { writes: WRITE }, 'INVALID_INPUT', 'writes must be an array'],
    ['messages that are no list', 1, { messages: MESSAGE }, 'INVALID_OPTION', 'messages must be an array'],
    ['a write that is none', 1, { writes: [{ Get: {} }] }, 'INVALID_INPUT', 'writes[0]'],
    ['a message without a target', 1, { messages: [{ body: 1 }] }, 'INVALID_OPTION', 'messages[0].to'],
    [
      'a message without a body',
      1,
      { messages: [{ ...MESSAGE, body: undefined }] },
      'INVALID_INPUT',
      'messages[0].body',
    ],
    ['a body with no JSON', 1, { messages: [{ ...MESSAGE, body: { n: 1n } }] }, 'INVALID_INPUT', 'messages[0].body'],
    ['a body no queue takes', 1, { messages: [{ ...MESSAGE, body: 'a\u0000b' }] }, 'INVALID_INPUT', 'messages[0].body'],
    ['a body too large', 1, { messages: [{ ...MESSAGE, body: 'x'.repeat(1_048_576) }] }, 'INVALID_INPUT', '1048576'],
    [
      'two messages of one name',
      1,
      { messages: [{ ...MESSAGE, name: '1' }, MESSAGE] },
      'INVALID_OPTION',
      'messages[1]',
    ],
    [
      'an attribute of ours',
      1,
      { messages: [{ ...MESSAGE, attributes: { 'continuation-id': 'x' } }] },
      'INVALID_OPTION',
      'continuation-id',
    ],
    [
      'an attribute that no item can have',
      1,
      { messages: [{ ...MESSAGE, attributes: JSON.parse('{"__proto__":"x"}') }] },
      'INVALID_OPTION',
      '__proto__',
    ],
    [
      'nine attributes',
      1,
      { messages: [{ ...MESSAGE, attributes: Object.fromEntries('abcdefghi'.split('').map((n) => [n, n])) }] },
      'INVALID_OPTION',
      'at most 8',
    ],
    ['a long delay', 1, { messages: [{ ...MESSAGE, delaySeconds: 901 }] }, 'INVALID_OPTION', '900'],
    [
      'a delay on a FIFO queue',
      1,
      { messages: [{ to: { queueUrl: `${QUEUE_URL}.fifo` }, body: 1, delaySeconds: 1 }] },
      'INVALID_OPTION',
      'standard queue',
    ],
    [
      'too many items',
      1,
      { writes: Array.from({ length: 99 }, (_, id) => ({ Delete: { TableName: 't', Key: { id } } })), receipt: 1 },
      'INVALID_INPUT',
      '100',
    ],
    ['two writes on one item', 1, { writes: [WRITE, WRITE] }, 'INVALID_INPUT', 'same item'],
  ]
  test.each(cases)('%s', async (_name, value, plan, code, text) => {
    const { idempotency, store, record } = setUpCommits()
    let error: unknown
    const { value: answer } = await idempotency.run(ORDER, async ({ commit, step }) => {
      error = await commit(value, plan as CommitPlan).catch((thrown: unknown) => thrown)
      expect(store.calls).toEqual(['put'])
      return step('still open', () => 'open')
    })
    expect(error).toMatchObject({ code })
    expect(String(error)).toContain(text)
    expect(answer).toBe('open')
    expect(record()?.status).toBe('COMPLETED')
  })

  test('messages that no relay would send', async () => {
    const { idempotency, store } = setUpCommits({ relay: false })
    const run = idempotency.run(ORDER, ({ commit }) => commit(1, FULL))
    expect(await codeOf(run)).toBe('INVALID_OPTION')
    expect(store.calls).not.toContain('commit')
  })

  test('that the request runs unprotected', async () => {
    const { idempotency } = setUpCommits(
      { onStoreError: 'open' },
      { faults: { put: untilTheEnd('not-applied'), get: untilTheEnd('not-applied') } },
    )
    const run = idempotency.run(ORDER, ({ commit }) => commit(1))
    await expect(run).rejects.toThrow(/operation.commit needs a claim/)
  })
})

describe('the ids of messages', () => {
  const plan = { messages: [MESSAGE, { ...MESSAGE, name: 'second' }, MESSAGE] }
  const idsOf = async (h: ReturnType<typeof setUpCommits>) => (await h.outbox()).map(({ messageId }) => messageId)

  test('differ within a commit, whatever they say, and are none of the operation’s', async () => {
    const h = setUpCommits()
    await h.idempotency.run(ORDER, ({ commit }) => commit(1, plan))
    const ids = await idsOf(h)
    expect(new Set([...ids, h.record()?.id]).size).toBe(4)
  })

  test('stay the same over repeated tries of one commit', async () => {
    const sent: unknown[][] = []
    const memory = memoryStore()
    const h = setUpCommits({
      store: {
        ...memory,
        async prepare(id, writes, beside) {
          const prepared = await memory.prepare(id, writes, beside)
          return {
            async commit(...call) {
              sent.push(beside.map(({ attributes }) => attributes.messageId))
              if (sent.length < 3) throw new StoreError('No answer.', { retryable: true })
              return prepared.commit(...call)
            },
          }
        },
      },
    })
    await h.idempotency.run(ORDER, ({ commit }) => commit(1, plan))
    expect(sent).toHaveLength(3)
    expect(new Set(sent.map(String)).size).toBe(1)
  })

  test('differ between attempts, of which at most one has committed', async () => {
    const seen: unknown[] = []
    const memory = memoryStore()
    const { idempotency, clock } = setUpCommits({
      store: {
        ...memory,
        async prepare(id, writes, beside) {
          seen.push(beside[0]?.attributes.messageId)
          const prepared = await memory.prepare(id, writes, beside)
          return seen.length === 1 ? { commit: () => new Promise(() => undefined) } : prepared
        },
      },
    })
    const work = ({ commit }: Operation) => commit(1, { messages: [MESSAGE] })
    void idempotency.run({ ...ORDER, context: INVOCATION }, work).catch(() => undefined)
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(20_000)
    await idempotency.run(ORDER, work)
    expect(seen).toHaveLength(2)
    expect(new Set(seen).size).toBe(2)
    const [record] = memory.records() as [OperationRecord]
    expect(record.attempt).toBe(2)
  })

  test('name the group of a FIFO queue after the operation, unless another is given', async () => {
    const to = { queueUrl: `${QUEUE_URL}.fifo` }
    const h = setUpCommits()
    await h.idempotency.run(ORDER, ({ commit }) =>
      commit(1, { messages: [{ to, body: 'a' }, { to, body: 'b', groupId: 'mine' }, MESSAGE] }),
    )
    expect((await h.outbox()).map(({ groupId }) => groupId)).toEqual([h.record()?.id, 'mine', undefined])
  })
})
