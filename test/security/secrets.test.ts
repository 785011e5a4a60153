import diagnostics from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import middy from '@middy/core'
import httpErrorHandler from '@middy/http-error-handler'
import type { SQSEvent } from 'aws-lambda'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { batchHandler, dynamoStream, kafka, kinesis, type StandardSchema } from '../../lib/batch/index.ts'
import { eventBridge, eventHandler, s3, sns } from '../../lib/event/index.ts'
import { idempotent, idempotentHttp } from '../../lib/http/index.ts'
import { createIdempotency, type IdempotencyOptions, type Store, StoreError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { EVENT_TYPES, emfMetrics } from '../../lib/observability/index.ts'
import { outboxRelay } from '../../lib/outbox/index.ts'
import { lambdaContext, sqsEvent } from '../../lib/testing/index.ts'
import { type Asked, SOURCES } from '../http/events.ts'
import type { Answered } from '../http/harness.ts'
import { aesCodec } from '../outcome/aes-codec.ts'
import {
  busEvent,
  kafkaEvent,
  kinesisEvent,
  kinesisRecord,
  notification,
  s3Record,
  snsEvent,
  streamRecord,
} from '../sources/events.ts'

/** One in each thing that nobody but its owner may read. Each can be found wherever it gets to, cut or quoted. */
const SECRETS = {
  key: 'skrtkey',
  body: 'skrtbody',
  principal: 'skrtprincipal',
  scope: 'skrtscope',
  header: 'skrtheader',
  path: 'skrtpath',
  error: 'skrterror',
  store: 'skrtstore',
  codec: 'skrtcodec',
}

let printed: string[]
let seen: unknown[]
const note = (event: unknown) => void seen.push(event)

beforeEach(() => {
  printed = []
  seen = []
  for (const name of ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const) {
    // As Lambda's own console prints it: with the stack and the cause.
    vi.spyOn(console, name).mockImplementation(
      (...args) => void printed.push(args.map((arg) => inspect(arg, { depth: 9 })).join(' ')),
    )
  }
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => printed.push(String(text)) > 0)
  }
  for (const type of EVENT_TYPES) diagnostics.subscribe(`lambda-once:${type}`, note)
})
afterEach(() => {
  vi.restoreAllMocks()
  for (const type of EVENT_TYPES) diagnostics.unsubscribe(`lambda-once:${type}`, note)
})

/** Where a secret is found, in words that do not repeat it. */
function leaks(where: Readonly<Record<string, readonly unknown[]>>): string[] {
  return Object.entries(where).flatMap(([place, outputs]) =>
    outputs.flatMap((output) => {
      const text = typeof output === 'string' ? output : inspect(output, { depth: 12, maxStringLength: null })
      return Object.entries(SECRETS).flatMap(([name, secret]) =>
        text.includes(secret) ? [`${name} in ${place}: ${text.slice(0, 300)}`] : [],
      )
    }),
  )
}

/** An event without the error it may carry, which is for an observer that knows what to do with it. */
const withoutErrors = () => seen.map((event) => ({ ...Object(event), error: undefined }))

function setUp(options: Partial<IdempotencyOptions> = {}) {
  return createIdempotency({ store: memoryStore(), namespace: 'n', observer: emfMetrics(), ...options })
}

/** A store that fails as one whose messages tell a lot. */
function failing(methods: readonly (keyof Store)[], retryable = false): Store {
  const store = memoryStore()
  const fail = async () => {
    throw new StoreError(`AccessDenied for ${SECRETS.store}`, { retryable, cause: new Error(SECRETS.store) })
  }
  return { ...store, ...Object.fromEntries(methods.map((name) => [name, fail])) }
}

const ASKED: Asked = {
  key: SECRETS.key,
  sub: SECRETS.principal,
  path: `/${SECRETS.path}`,
  body: JSON.stringify({ card: SECRETS.body }),
  headers: { authorization: `Bearer ${SECRETS.header}`, cookie: SECRETS.header, 'x-api-key': SECRETS.header },
}
const BAD_KEYS = [
  `${SECRETS.key}\u0000`,
  `"${SECRETS.key}`,
  `${SECRETS.key},other`,
  SECRETS.key.repeat(90),
  `${SECRETS.key}\ud800`,
]

describe.each(Object.entries(SOURCES))('no client of %s', (source, make) => {
  const scope = { scope: () => [SECRETS.scope] }

  async function answers(
    options: Partial<IdempotencyOptions>,
    work: () => unknown,
    asks: readonly Asked[],
  ): Promise<Answered[]> {
    const idempotency = setUp({ leaseSeconds: 1, ...options })
    const wrapped = idempotent({ idempotency, ...scope }, work as never)
    const chained = middy()
      .use(idempotentHttp({ idempotency, ...scope }))
      .use(httpErrorHandler({ logger: false }))
      .handler(work as never)
    const got: unknown[] = []
    for (const handler of [wrapped, chained]) {
      for (const asked of asks) {
        try {
          got.push(await (handler as typeof wrapped)(make({ ...ASKED, ...asked }) as never, lambdaContext()))
        } catch (error) {
          // The runtime shows it to nobody but the log.
          if (source !== 'never') got.push(error instanceof Error ? '' : error)
        }
      }
    }
    return got as Answered[]
  }

  test('reads anything of the request, the store or an error in an answer that is not the handler’s', async () => {
    const done = () => ({ statusCode: 201, body: 'done' })
    const throwing = () => {
      throw Object.assign(new Error(SECRETS.error), { code: SECRETS.error, cause: new Error(SECRETS.error) })
    }
    const exposed = () => {
      throw Object.assign(new Error(SECRETS.error), { statusCode: 500, expose: false })
    }
    const all = [
      ...(await answers({}, done, [
        {},
        {},
        { body: `another ${SECRETS.body}` },
        { key: '' },
        ...BAD_KEYS.map((key) => ({ key })),
      ])),
      ...(await answers({}, throwing, [{}, {}])),
      ...(await answers({}, exposed, [{}, {}])),
      ...(await answers({ onError: () => 'keep' }, throwing, [{}, {}])),
      ...(await answers({ onError: () => 'unknown' }, throwing, [{}, {}])),
      ...(await answers({ onError: () => 'release' }, throwing, [{}])),
      ...(await answers({}, () => ({ statusCode: 201, body: () => SECRETS.body }), [{}, {}])),
      ...(await answers({ store: failing(['put', 'get']) }, done, [{}])),
      ...(await answers({ store: failing(['put', 'get'], true) }, done, [{}])),
      ...(await answers({ store: failing(['update']) }, done, [{}, {}])),
      ...(await answers(
        { codec: aesCodec('a', 'a', { decode: [new Error(SECRETS.codec), new Error(SECRETS.codec)] }) },
        done,
        [{}, {}],
      )),
    ]
    const statuses = new Set(all.map((answer) => Object(answer).statusCode))
    // Whatever is missing here was not looked at.
    for (const status of [201, 400, 409, 422, 500, 503]) expect(statuses).toContain(status)
    expect(leaks({ answers: all, events: withoutErrors(), printed })).toEqual([])
  })
})

describe('nothing of a message is written to the log', () => {
  const schema: StandardSchema<{ id: string }> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => ({ issues: [{ message: `got ${JSON.stringify(value)}`, path: ['card'] }] }),
    },
  }
  const work = () => undefined

  test('when it cannot be read, does not match, names no key, or comes again', async () => {
    const idempotency = setUp()
    const scope = SECRETS.scope
    const bad = sqsEvent(
      { body: `{"card":"${SECRETS.body}`, key: SECRETS.key },
      { body: { card: SECRETS.body }, key: `${SECRETS.key}\u0000` },
    )
    const good = sqsEvent({ body: { card: SECRETS.body }, key: SECRETS.key, attributes: { token: SECRETS.header } })
    const changed: SQSEvent = {
      Records: good.Records.map((record) => ({ ...record, body: `{"card":"${SECRETS.body}2"}` })),
    }
    const plain = batchHandler({ idempotency, scope }, work)
    const strict = batchHandler({ idempotency, scope, schema }, work)
    const keyless = batchHandler({ idempotency, scope, key: () => undefined }, work)
    const long = batchHandler({ idempotency, scope, key: () => SECRETS.key.repeat(90) }, work)
    for (const event of [bad, good, changed]) {
      for (const handler of [plain, strict, keyless, long]) await handler(event, lambdaContext())
    }
    const data = `{"card":"${SECRETS.body}`
    await batchHandler({ idempotency, scope, source: kinesis() }, work)(
      kinesisEvent(kinesisRecord('1', data)),
      lambdaContext(),
    )
    await batchHandler({ idempotency, scope, source: kafka() }, work)(
      kafkaEvent({ 'orders-0': [data] }),
      lambdaContext(),
    )
    const image = { card: { X: SECRETS.body } }
    await batchHandler({ idempotency, scope, source: dynamoStream() }, work)(
      { Records: [streamRecord('1', { newImage: image })] },
      lambdaContext(),
    )
    expect(printed.length).toBeGreaterThan(10)
    expect(leaks({ printed, events: withoutErrors() })).toEqual([])
  })

  test('nor when the store or the codec is away, but for its own error', async () => {
    const down = batchHandler({ idempotency: setUp({ store: failing(['put', 'get']) }), scope: SECRETS.scope }, work)
    await down(sqsEvent({ body: { card: SECRETS.body }, key: SECRETS.key }), lambdaContext())
    expect(printed.join()).toContain(SECRETS.store)
    const others = printed.map((line) => line.replaceAll(SECRETS.store, ''))
    expect(leaks({ printed: others, events: withoutErrors() })).toEqual([])
  })

  test('nor by a relay, of a message that it cannot read or send', async () => {
    const store = memoryStore()
    const idempotency = setUp({ store, relay: true })
    const to = { queueUrl: 'https://sqs.eu-central-1.amazonaws.com/111122223333/q' }
    await idempotency.run({ key: SECRETS.key, input: SECRETS.body }, (operation) =>
      operation.commit(1, { messages: [{ to, body: SECRETS.body, attributes: { card: SECRETS.body } }] }),
    )
    const id = store.records()[0]?.id ?? ''
    const [item] = await store.listBeside(id, 'outbox#')
    const image = { ...item?.attributes, pk: id, sk: item?.sk }
    const sender = {
      send: async (messages: readonly unknown[]) =>
        messages.map(() => ({ kind: 'failed' as const, error: new Error('throttled') })),
    }
    const relay = outboxRelay({ store, sender })
    const { marshall } = await import('@aws-sdk/util-dynamodb')
    for (const body of [image, { ...image, body: { kind: 'text', text: `[${SECRETS.body}` } }]) {
      await relay(
        { Records: [streamRecord('1', { newImage: marshall(body, { removeUndefinedValues: true }) })] } as never,
        lambdaContext(),
      )
    }
    expect(printed.length).toBeGreaterThan(0)
    expect(leaks({ printed })).toEqual([])
  })
})

test('the toolkit’s own errors, which a single event’s handler throws, quote nothing of the event', async () => {
  const idempotency = setUp()
  const scope = SECRETS.scope
  const handlers = [
    [eventHandler({ idempotency, scope, source: eventBridge() }, () => 1), busEvent({ card: SECRETS.body })],
    [eventHandler({ idempotency, scope, source: sns() }, () => 1), snsEvent(notification(SECRETS.body, { id: '' }))],
    [
      eventHandler({ idempotency, scope, source: s3() }, () => 1),
      { Records: [s3Record(SECRETS.path, { sequencer: null })] },
    ],
  ] as const
  const thrown: unknown[] = []
  for (const [handler, event] of handlers) {
    for (const broken of [
      event,
      { ...event, id: SECRETS.key.repeat(90) },
      { Records: SECRETS.body },
      SECRETS.body,
      [SECRETS.body],
    ]) {
      await (handler as (event: unknown, context: unknown) => Promise<unknown>)(broken, lambdaContext()).catch(
        (error) => thrown.push(error),
      )
    }
  }
  const keyed = eventHandler(
    { idempotency, source: eventBridge<{ card: string }>(), key: ({ detail }) => detail.card.repeat(90) },
    () => 1,
  )
  await keyed(busEvent({ card: SECRETS.key }), lambdaContext()).catch((error: unknown) => thrown.push(error))
  expect(thrown.length).toBeGreaterThan(6)
  expect(leaks({ thrown: thrown.map((error) => String(error)), printed, events: withoutErrors() })).toEqual([])
})

test('no wrong call that quotes what it got quotes more than a few characters of a text', async () => {
  const { run, acquire } = setUp()
  const long = `${'x'.repeat(60)}${SECRETS.body}`
  const thrown: unknown[] = []
  const wrong: (() => Promise<unknown>)[] = [
    () => run({ key: { card: SECRETS.body } as never, input: 1 }, () => 1),
    () => run({ key: 'k', scope: [{ card: SECRETS.body }] as never, input: 1 }, () => 1),
    () => run({ key: 'k', input: { card: () => SECRETS.body } }, () => 1),
    () => run({ key: 'k', input: 1, metadata: { note: { card: SECRETS.body } } as never }, () => 1),
    () => run({ key: 'k', input: 1, metadata: long as never }, () => 1),
    () => acquire('k', { ttlSeconds: long as never }),
  ]
  for (const call of wrong) await call().catch((error: unknown) => thrown.push(error))
  expect(thrown).toHaveLength(wrong.length)
  expect(leaks({ thrown: thrown.map(String) })).toEqual([])
})
