import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shownValue, valueText } from '../../lib/cli/operation/values.ts'
import {
  createIdempotency,
  type Idempotency,
  type IdempotencyOptions,
  type Operation,
  type OperationRecord,
  PermanentError,
  type StoredValue,
  type ValueCodec,
  type ValueContext,
} from '../../lib/index.ts'
import { type MemoryStore, memoryStore } from '../../lib/memory/index.ts'
import { dispatchOne } from '../../lib/outbox/index.ts'
import { codeOf, ORDER, setUp } from '../core/harness.ts'
import { httpEvent } from '../http/events.ts'
import { setUp as setUpHttp } from '../http/harness.ts'
import { aesCodec } from './aes-codec.ts'

const SECRET = 'a-secret-nobody-may-read'
const never = () => {
  throw new Error('ran again')
}

/** Everything that lies in a store, its bytes as the text that they would be. */
async function contentsOf(memory: MemoryStore): Promise<string> {
  const records = memory.records()
  const beside = await Promise.all(records.map(({ id }) => memory.listBeside(id, '')))
  return inspect([records, beside], { depth: 20, maxStringLength: null }) + textOf([records, beside])
}

function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1')
  return typeof value === 'object' && value !== null ? Object.values(value).map(textOf).join(' ') : String(value)
}

/** Puts a changed record in the place of the one that is there, as somebody who can write the table could. */
async function tamper(memory: MemoryStore, id: string, change: Partial<OperationRecord>): Promise<void> {
  const there = (await memory.get(id)) as OperationRecord
  await memory.put({ ...there, ...change, rev: there.rev + 1 }, { kind: 'seen', token: there.token, rev: there.rev })
}

const storedIn = (record: OperationRecord | undefined): StoredValue => {
  if (record?.outcome?.kind !== 'value') throw new Error('no value')
  return record.outcome.value
}

describe('with a codec', () => {
  test('nothing that is stored can be read in the table, and everything comes back', async () => {
    const { idempotency, memory, clock } = setUp({
      codec: aesCodec(),
      relay: true,
      reconcilerShards: 1,
      reconcilerRecovers: true,
    })
    const seen: unknown[] = []
    const flow = async (operation: Operation) => {
      seen.push(await operation.step('charge', () => `${SECRET} step`, { receipt: (result) => `${result} receipt` }))
      const signals = await operation.signals()
      if (signals.length === 0) return operation.wait('an approval')
      seen.push(...signals)
      return operation.commit(
        { answer: `${SECRET} committed` },
        {
          receipt: `${SECRET} confirmed`,
          messages: [{ to: { queueUrl: 'https://sqs.eu-central-1.amazonaws.com/1/q' }, body: `${SECRET} message` }],
        },
      )
    }
    expect(await codeOf(idempotency.run(ORDER, flow))).toBe('WAITING')
    await idempotency.signal({ key: ORDER.key }, `${SECRET} signal`, { id: 'webhook-1' })
    clock.advance(1_000)
    expect((await idempotency.run(ORDER, flow)).value).toEqual({ answer: `${SECRET} committed` })
    expect((await idempotency.run(ORDER, never)).value).toEqual({ answer: `${SECRET} committed` })
    expect(seen).toEqual([`${SECRET} step`, `${SECRET} step`, `${SECRET} signal`])
    const receipts = await idempotency.receipts({ key: ORDER.key })
    expect(receipts.map(({ value }) => value)).toEqual([`${SECRET} step receipt`, `${SECRET} confirmed`])

    const failed = { ...ORDER, key: 'order-2' }
    await idempotency.run(failed, () => Promise.reject(new PermanentError(`${SECRET} failure`))).catch(() => undefined)
    await expect(idempotency.run(failed, never)).rejects.toThrow(`PermanentError: ${SECRET} failure`)

    const contents = await contentsOf(memory)
    expect(contents).toContain('webhook-1')
    expect(contents).not.toContain(SECRET)
  })

  test('the relay decodes the message with the same codec, and without it leaves the message as stuck', async () => {
    const codec = aesCodec()
    const { idempotency, memory, clock } = setUp({ codec, relay: true })
    const to = { queueUrl: 'https://sqs.eu-central-1.amazonaws.com/1/q' }
    await idempotency.run(ORDER, (operation) => operation.commit(1, { messages: [{ to, body: SECRET }] }))
    const id = memory.records()[0]?.id ?? ''
    const sent: string[] = []
    const sender = {
      async send(messages: readonly { readonly text: string }[]) {
        sent.push(...messages.map(({ text }) => text))
        return messages.map(() => ({ kind: 'sent' as const }))
      },
    }
    const item = async () => ({ id, ...(await memory.listBeside(id, 'outbox#'))[0]! })
    expect(await dispatchOne(memory, sender, await item(), { clock })).toEqual({
      kind: 'stuck',
      reason: 'OutcomeUnreadableError',
    })
    const failing = aesCodec('aes-1', 'aes-1', { decode: [new Error('KMS is down')] })
    expect(await dispatchOne(memory, sender, await item(), { clock, codec: failing })).toMatchObject({ kind: 'failed' })
    expect(sent).toEqual([])
    expect(await dispatchOne(memory, sender, await item(), { clock, codec })).toEqual({ kind: 'dispatched' })
    expect(sent).toEqual([SECRET])
  })

  test('any value comes back as it was, small or in parts', async () => {
    const values = fc.oneof(
      fc.jsonValue(),
      fc.anything({
        key: fc.string().filter((name) => name !== '__proto__'),
        withDate: true,
        withBigInt: true,
        withMap: true,
      }),
      fc.constantFrom(
        undefined,
        null,
        '',
        0,
        false,
        -0,
        Number.NaN,
        'x'.repeat(1_021),
        'x'.repeat(1_023),
        'é'.repeat(700),
      ),
      fc.nat(1_000_000).map((length) => randomBytes(length).toString('base64')),
    )
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const { idempotency, record } = setUp({ codec: aesCodec() })
        await idempotency.run(ORDER, () => value)
        expect(['coded', 'parts']).toContain(storedIn(record()).kind)
        expect(await idempotency.run(ORDER, never)).toEqual({ value, replayed: true, attempt: 1 })
      }),
      { numRuns: 60 },
    )
  })

  test('a response is replayed byte for byte', async () => {
    const { serve } = setUpHttp({}, { codec: aesCodec() })
    const body = randomBytes(600_000).toString('base64')
    const headers = { 'content-type': 'application/octet-stream', 'x-id': '1' }
    let runs = 0
    const handler = serve(() => {
      runs++
      return { statusCode: 201, headers, body, isBase64Encoded: true }
    })
    const [first, again] = [await handler(httpEvent()), await handler(httpEvent())]
    expect(runs).toBe(1)
    expect([again.statusCode, again.isBase64Encoded, again.body === first.body]).toEqual([201, true, true])
    expect(again.headers).toMatchObject(headers)
  })

  test('compresses first: what is encoded is small', async () => {
    const { idempotency, record } = setUp({ codec: aesCodec() })
    await idempotency.run(ORDER, () => 'ten bytes '.repeat(10_000))
    expect(storedIn(record())).toMatchObject({ kind: 'coded', codec: 'aes-1' })
  })

  test('counts the size as it comes out of the codec: one that doubles it goes into parts', async () => {
    const doubling: ValueCodec = {
      name: 'doubling',
      encode: (bytes) => Buffer.concat([bytes, bytes]),
      decode: (bytes) => bytes.subarray(bytes.length / 2),
    }
    const { idempotency, record } = setUp({ codec: doubling })
    const value = randomBytes(500).toString('base64')
    await idempotency.run(ORDER, () => value)
    expect(storedIn(record())).toMatchObject({ kind: 'parts', count: 1, codec: 'doubling' })
    expect((await idempotency.run(ORDER, never)).value).toBe(value)
  })

  test('is told which value it is, the same for encoding and decoding, and never the same for two', async () => {
    const told: Record<'encode' | 'decode', ValueContext[]> = { encode: [], decode: [] }
    const noted = (contexts: ValueContext[], bytes: Uint8Array, context: ValueContext) => {
      contexts.push(context)
      return bytes
    }
    const codec: ValueCodec = {
      name: 'curious',
      encode: (bytes, context) => noted(told.encode, bytes, context),
      decode: (bytes, context) => noted(told.decode, bytes, context),
    }
    const { idempotency, record } = setUp({ codec })
    await idempotency.run(ORDER, async ({ step }) => {
      await step('one', () => 1)
      await step('two', () => 2)
    })
    await idempotency.run(ORDER, never)
    const operationId = record()?.id
    expect(told.encode).toMatchObject([
      { operationId, purpose: 'step', name: 'one' },
      { operationId, purpose: 'step', name: 'two' },
      { operationId, purpose: 'outcome' },
    ])
    expect(told.decode).toEqual(told.encode.slice(2))
    const bytes = new Set(told.encode.map(({ associatedData }) => Buffer.from(associatedData).toString()))
    expect(bytes.size).toBe(3)
  })
})

test('the command line shows that a value is encoded, and by what, whatever it is asked for', async () => {
  const { idempotency, memory, record } = setUp({ codec: aesCodec() })
  await idempotency.run(ORDER, () => SECRET)
  const shown = await shownValue(memory, storedIn(record()), true)
  expect(shown).toEqual({ stored: 'coded', bytes: expect.any(Number), codec: 'aes-1' })
  expect(valueText(shown)).toMatch(/^\d+ bytes?, encoded by "aes-1"$/)
  const large = { ...ORDER, key: 'large' }
  await idempotency.run(large, () => randomBytes(3_000).toString('base64'))
  const inParts = await shownValue(memory, storedIn(memory.records()[1]), true)
  expect(valueText(inParts)).toMatch(/encoded by "aes-1", in 1 part$/)
})

describe('a value in another’s place is refused', () => {
  test('the outcome of another operation', async () => {
    const { idempotency, memory } = setUp({ codec: aesCodec() })
    await idempotency.run(ORDER, () => 'mine')
    await idempotency.run({ ...ORDER, key: 'theirs' }, () => 'theirs')
    const [mine, theirs] = memory.records()
    await tamper(memory, mine?.id ?? '', { outcome: theirs!.outcome! })
    expect(await codeOf(idempotency.run(ORDER, never))).toBe('OUTCOME_UNREADABLE')
  })

  test('the result of another step', async () => {
    const { idempotency, memory, clock } = setUp({ codec: aesCodec(), leaseSeconds: 10 })
    const flow = async ({ step, attempt }: Operation) => {
      const limit = await step('limit', () => 10)
      const wanted = await step('wanted', () => 1_000)
      if (attempt === 1) return new Promise(() => undefined)
      return [limit, wanted]
    }
    void idempotency.run(ORDER, flow)
    await new Promise((resolve) => setImmediate(resolve))
    const [{ id, steps }] = memory.records() as [OperationRecord]
    await tamper(memory, id, { steps: { limit: steps.wanted!, wanted: steps.wanted! } })
    clock.advance(11_001)
    expect(await codeOf(idempotency.run(ORDER, flow))).toBe('OUTCOME_UNREADABLE')
    await tamper(memory, id, { steps })
    expect((await idempotency.run(ORDER, flow)).value).toEqual([10, 1_000])
  })

  test('a value that no codec has encoded, once the codec refuses such values', async () => {
    const store = memoryStore()
    const make = (codec?: ValueCodec) => createIdempotency({ store, namespace: 'payments', ...(codec && { codec }) })
    await make().run(ORDER, () => 'forged')
    expect((await make(aesCodec()).run(ORDER, never)).value).toBe('forged')
    const strict = make({ ...aesCodec(), refusesPlain: true })
    expect(await codeOf(strict.run(ORDER, never))).toBe('OUTCOME_UNREADABLE')
  })
})

describe('switched on, changed or taken away', () => {
  const store = memoryStore()
  const make = (codec?: IdempotencyOptions['codec']): Idempotency =>
    createIdempotency({ store, namespace: 'payments', ...(codec && { codec }) })
  const old = aesCodec('aes-1')
  const young = aesCodec('aes-2')

  test('what was stored before stays readable, and what cannot be read is not run again', async () => {
    const at = (key: string) => ({ ...ORDER, key })
    await make().run(at('plain'), () => 'plain')
    await make(old).run(at('old'), () => 'old')
    await make([young, old]).run(at('young'), () => 'young')
    for (const key of ['plain', 'old', 'young']) {
      expect((await make([young, old]).run(at(key), never)).value).toBe(key)
    }
    expect(await codeOf(make(old).run(at('young'), never))).toBe('OUTCOME_UNREADABLE')
    expect(await codeOf(make().run(at('old'), never))).toBe('OUTCOME_UNREADABLE')
    await expect(make().run(at('old'), never)).rejects.toMatchObject({ retryable: false })
  })
})

describe('a codec that fails', () => {
  test('when it decodes: nothing runs, and a later repetition gets the outcome', async () => {
    const decode = [new Error('KMS is down')]
    const { serve } = setUpHttp({}, { codec: aesCodec('aes-1', 'aes-1', { decode }) })
    let runs = 0
    const handler = serve(() => ({ statusCode: 201, body: String(++runs) }))
    await handler(httpEvent())
    const refused = await handler(httpEvent())
    expect([refused.statusCode, refused.headers?.['Retry-After']]).toEqual([503, '2'])
    expect(JSON.parse(refused.body)).toMatchObject({ type: 'https://lambda-once.dev/problems/try-again' })
    expect(await handler(httpEvent())).toMatchObject({ statusCode: 201, body: '1' })
  })

  test('when it decodes what it will never read: 500, and nothing runs', async () => {
    const { serve, store } = setUpHttp({}, { codec: aesCodec() })
    const handler = serve(() => ({ statusCode: 201, body: '' }))
    await handler(httpEvent())
    const without = setUpHttp({}, { store })
    const refused = await without.serve(never)(httpEvent())
    expect([refused.statusCode, JSON.parse(refused.body).type]).toEqual([
      500,
      'https://lambda-once.dev/problems/outcome-not-kept',
    ])
  })

  test('when it encodes the outcome: tried again, until it is stored', async () => {
    const encode = [new Error('throttled'), new Error('throttled')]
    const { idempotency } = setUp({ codec: aesCodec('aes-1', 'aes-1', { encode }) })
    expect((await idempotency.run(ORDER, () => 'done')).value).toBe('done')
    expect(encode).toEqual([])
    expect((await idempotency.run(ORDER, never)).value).toBe('done')
  })

  test('until the deadline: the operation stays in progress, and nobody runs it before the lease ends', async () => {
    const encode = Array.from({ length: 1_000 }, () => new Error('down'))
    const { idempotency, record } = setUp({ codec: aesCodec('aes-1', 'aes-1', { encode }) })
    const error = await idempotency.run(ORDER, () => 'done').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'OUTCOME_NOT_RECORDED', value: 'done' })
    expect(record()?.status).toBe('IN_PROGRESS')
    expect(await codeOf(idempotency.run(ORDER, never))).toBe('IN_PROGRESS')
  })

  test('before a commit: nothing is written, and the operation is run again', async () => {
    const encode = Array.from({ length: 1_000 }, () => new Error('down'))
    const { idempotency, memory } = setUp({ codec: aesCodec('aes-1', 'aes-1', { encode }) })
    const commit = (operation: Operation) => operation.commit('done', { receipt: 'r' })
    expect(await codeOf(idempotency.run(ORDER, commit))).toBe('STORE')
    expect(memory.records()[0]?.status).toBe('RETRYABLE')
    encode.length = 0
    expect((await idempotency.run(ORDER, commit)).value).toBe('done')
  })

  test('when it decodes a signal: the operation is resumed, and never stored as failed', async () => {
    const decode: Error[] = []
    const { idempotency, memory } = setUp({
      codec: aesCodec('aes-1', 'aes-1', { decode }),
      reconcilerShards: 1,
      reconcilerRecovers: true,
    })
    const flow = async (operation: Operation) => {
      const [signal] = await operation.signals()
      return signal ?? operation.wait()
    }
    await codeOf(idempotency.run(ORDER, flow))
    await idempotency.signal({ key: ORDER.key }, 'approved')
    decode.push(new Error('down'))
    expect(await codeOf(idempotency.run(ORDER, flow))).toBe('OUTCOME_UNREADABLE')
    expect(memory.records()[0]?.status).toBe('RETRYABLE')
    expect((await idempotency.run(ORDER, flow)).value).toBe('approved')
  })

  test.each([
    ['no bytes', 'text' as unknown as Uint8Array],
    ['nothing', undefined as unknown as Uint8Array],
    ['more than fits', new Uint8Array(23_000_000)],
  ])(
    'that gives %s: the operation ends as failed, is not run again, and its caller gets the value',
    async (_name, bytes) => {
      const { idempotency, record, types } = setUp({
        codec: { name: 'broken', encode: () => bytes, decode: () => bytes },
      })
      expect((await idempotency.run(ORDER, () => 'done')).value).toBe('done')
      expect(record()).toMatchObject({ status: 'FAILED', outcome: { failure: { code: 'OUTCOME_UNSTORABLE' } } })
      expect(types().at(-1)).toBe('failed')
      expect(await codeOf(idempotency.run(ORDER, never))).toBe('OPERATION_FAILED')
      const committed = { ...ORDER, key: 'order-2' }
      expect(await codeOf(idempotency.run(committed, (operation) => operation.commit(1)))).toBe('OUTCOME_UNSTORABLE')
    },
  )

  test('that gives other bytes than it was given: not readable, and not run again', async () => {
    const codec: ValueCodec = { name: 'broken', encode: (bytes) => bytes, decode: () => Buffer.from('other') }
    const { idempotency } = setUp({ codec })
    await idempotency.run(ORDER, () => 'done')
    await expect(idempotency.run(ORDER, never)).rejects.toMatchObject({ code: 'OUTCOME_UNREADABLE', retryable: false })
  })
})

describe('a codec that is none', () => {
  const whole = aesCodec()
  test.each([
    [null, 'codec must be { name, encode, decode }, or a list of these; got null.'],
    ['aes', 'codec must be { name, encode, decode }, or a list of these; got "aes".'],
    [{ ...whole, name: '' }, 'codec.name must be 1 to 32 letters'],
    [{ ...whole, name: 'a b' }, 'codec.name must be 1 to 32 letters'],
    [{ name: 'a', encode: whole.encode }, 'codec.decode must be a function; got undefined.'],
    [{ ...whole, encode: 'aes' }, 'codec.encode must be a function; got "aes".'],
    [{ ...whole, refusesPlain: 1 }, 'codec.refusesPlain must be true or false; got 1.'],
    [{ ...whole, key: 'secret' }, 'codec has no option "key".'],
    [[whole, aesCodec()], 'two codecs have the same name'],
  ])('%j is refused', (codec, message) => {
    const make = () => createIdempotency({ store: memoryStore(), namespace: 'n', codec: codec as never })
    expect(make).toThrow(message)
  })
})
