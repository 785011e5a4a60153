import { describe, expect, test } from 'vitest'
import type { BatchVerdict } from '../../infra/local/event-source-mapping/batch-response.ts'
import { passesFilters } from '../../infra/local/event-source-mapping/filter-match.ts'
import { afterInvocation, splitByAge } from '../../infra/local/event-source-mapping/stream-attempt.ts'
import { type StreamEventRecord, streamEventRecord } from '../../infra/local/event-source-mapping/stream-event.ts'
import { failureMessage } from '../../infra/local/event-source-mapping/stream-failure.ts'
import { dueShards } from '../../infra/local/event-source-mapping/stream-shards.ts'
import { parseFilterPattern } from '../../infra/local/template/filter-pattern.ts'

const STREAM_ARN = 'arn:aws:dynamodb:eu-central-1:000000000000:table/t/stream/s'

const record = (sequenceNumber: string, createdSeconds = 1000): StreamEventRecord =>
  streamEventRecord(
    {
      eventID: `0-${sequenceNumber}`,
      eventName: 'INSERT',
      dynamodb: { SequenceNumber: sequenceNumber, ApproximateCreationDateTime: new Date(createdSeconds * 1000) },
    },
    STREAM_ARN,
  )
const numbers = (records: readonly StreamEventRecord[]) => records.map(({ dynamodb }) => dynamodb.SequenceNumber)

describe('a filter', () => {
  const insert = {
    eventName: 'INSERT',
    dynamodb: { Keys: { sk: { S: 'outbox#1' } }, NewImage: { tags: { SS: ['x', 'y'] }, n: { N: '5' } } },
  }
  test.each<[string, object, boolean]>([
    ['equality', { eventName: ['INSERT'] }, true],
    ['equality with another', { eventName: ['REMOVE'] }, false],
    ['any of a list', { eventName: ['REMOVE', 'INSERT'] }, true],
    ['prefix', { dynamodb: { Keys: { sk: { S: [{ prefix: 'outbox#' }] } } } }, true],
    ['another prefix', { dynamodb: { Keys: { sk: { S: [{ prefix: 'op' }] } } } }, false],
    ['all fields', { eventName: ['INSERT'], dynamodb: { Keys: { sk: { S: ['outbox#2'] } } } }, false],
    ['anything but others', { eventName: [{ 'anything-but': ['MODIFY', 'REMOVE'] }] }, true],
    ['anything but this', { eventName: [{ 'anything-but': 'INSERT' }] }, false],
    ['anything but, of an absent field', { userIdentity: { type: [{ 'anything-but': 'Service' }] } }, false],
    ['existence', { dynamodb: { NewImage: { n: { N: [{ exists: true }] } } } }, true],
    ['existence of a map, which is no leaf', { dynamodb: { NewImage: [{ exists: true }] } }, false],
    ['absence', { userIdentity: { type: [{ exists: false }] } }, true],
    ['absence of what is there', { eventName: [{ exists: false }] }, false],
    ['an element of a list', { dynamodb: { NewImage: { tags: { SS: ['y'] } } } }, true],
    ['a number where there is text', { dynamodb: { NewImage: { n: { N: [5] } } } }, false],
    ['an inherited name', { toString: [{ exists: true }] }, false],
  ])('by %s', (_, pattern, passes) => {
    expect(passesFilters([parseFilterPattern(JSON.stringify(pattern), 'here')], insert)).toBe(passes)
  })

  test('is one of several: any may match, and without any everything passes', () => {
    const filters = ['REMOVE', 'INSERT'].map((name) => parseFilterPattern(`{"eventName":["${name}"]}`, 'here'))
    expect(passesFilters(filters, insert)).toBe(true)
    expect(passesFilters(filters, { eventName: 'MODIFY' })).toBe(false)
    expect(passesFilters([], insert)).toBe(true)
  })

  test.each([
    ['no JSON', '{', /here: a filter pattern that is not JSON/],
    ['no field', '{}', /names no field/],
    ['an empty list', '{"a":[]}', /here: filter pattern a: an empty list matches nothing/],
    ['$or', '{"$or":[{"a":["b"]}]}', /\$or: the local runner does not know it/],
    ['numeric', '{"a":[{"numeric":["=",1]}]}', /\{"numeric":\["=",1\]\}; the local runner has equality, prefix, /],
    ['two operators at once', '{"a":[{"prefix":"x","exists":true}]}', /the local runner has equality/],
    ['anything-but a prefix', '{"a":[{"anything-but":{"prefix":"x"}}]}', /only texts and numbers/],
    ['a value outside a list', '{"a":"b"}', /a: expected an object, got "b"/],
  ])('with %s is refused', (_, json, message) => {
    expect(() => parseFilterPattern(json, 'here')).toThrow(message)
  })
})

describe('after an invocation', () => {
  const records = ['1', '2', '3'].map((number) => record(number))
  const attempt = { records, invocations: 0 }
  const forEver = { bisectsOnError: false, maxRetries: Infinity }
  const failed: BatchVerdict = { kind: 'all-failed', reason: 'x' }
  const reported = (...ids: string[]): BatchVerdict => ({ kind: 'some-failed', failedIds: new Set(ids) })

  test('that succeeded there is nothing left', () => {
    expect(afterInvocation(attempt, { kind: 'all-succeeded' }, forEver)).toEqual({ kind: 'done' })
  })

  test('that failed the whole batch comes again, for ever', () => {
    expect(afterInvocation({ records, invocations: 10_000 }, failed, forEver)).toEqual({
      kind: 'again',
      attempts: [{ records, invocations: 10_001 }],
    })
  })

  test('that reported some, what lies behind the lowest comes again, reported or not', () => {
    const next = afterInvocation(attempt, reported('3', '2'), { ...forEver, bisectsOnError: true })
    expect(next).toEqual({ kind: 'again', attempts: [{ records: records.slice(1), invocations: 1 }] })
  })

  test('that failed, a batch is halved where asked for, which is no retry', () => {
    expect(afterInvocation(attempt, failed, { bisectsOnError: true, maxRetries: 0 })).toEqual({
      kind: 'again',
      attempts: [
        { records: records.slice(0, 2), invocations: 0 },
        { records: records.slice(2), invocations: 0 },
      ],
    })
  })

  test('that failed one record beyond its retries, that is given up', () => {
    const one = { records: records.slice(0, 1), invocations: 2 }
    expect(afterInvocation(one, failed, { bisectsOnError: true, maxRetries: 2 })).toEqual({
      kind: 'give-up',
      attempt: { ...one, invocations: 3 },
      condition: 'RetryAttemptsExhausted',
    })
    expect(afterInvocation(one, failed, { bisectsOnError: true, maxRetries: 3 }).kind).toBe('again')
  })

  test('that reported some beyond their retries, only those behind the lowest are given up', () => {
    const next = afterInvocation(attempt, reported('2'), { ...forEver, maxRetries: 0 })
    expect(next.kind === 'give-up' && numbers(next.attempt.records)).toEqual(['2', '3'])
  })

  test('records too old are told from the others', () => {
    const aged = [record('1', 1000), record('2', 1050), record('3', 1100)]
    const { expired, fresh } = splitByAge(aged, 1110_000, 60)
    expect([numbers(expired), numbers(fresh)]).toEqual([['1'], ['2', '3']])
    expect(splitByAge(aged, 9999_000, 60).fresh).toEqual([])
    expect(splitByAge(aged, 9999_000, Infinity).expired).toEqual([])
  })
})

describe('a record', () => {
  test('carries bytes in base64, at any depth', () => {
    const bytes = new Uint8Array([1, 255])
    const image = { B: { B: bytes }, BS: { BS: [bytes] }, L: { L: [{ M: { x: { B: bytes } } }] }, N: { N: '1' } }
    expect(streamEventRecord({ dynamodb: { NewImage: image } }, STREAM_ARN).dynamodb.NewImage).toEqual({
      B: { B: 'Af8=' },
      BS: { BS: ['Af8='] },
      L: { L: [{ M: { x: { B: 'Af8=' } } }] },
      N: { N: '1' },
    })
  })

  test('of a deletion by TTL says who did it; that of a user does not', () => {
    const byTtl = {
      eventName: 'REMOVE',
      userIdentity: { PrincipalId: 'dynamodb.amazonaws.com', Type: 'Service' },
    } as const
    expect(streamEventRecord(byTtl, STREAM_ARN).userIdentity).toEqual({
      principalId: 'dynamodb.amazonaws.com',
      type: 'Service',
    })
    expect(streamEventRecord({ eventName: 'REMOVE' }, STREAM_ARN)).not.toHaveProperty('userIdentity')
  })
})

test('the destination of a batch given up hears of the function’s error', () => {
  const attempt = { records: [record('7'), record('8', 1001)], invocations: 3 }
  const message = failureMessage(
    {
      attempt,
      condition: 'RetryAttemptsExhausted',
      lastResult: { kind: 'error', requestId: 'r', errorType: 'Error', errorMessage: 'x' },
      functionArn: 'arn:function',
      streamArn: STREAM_ARN,
      shardId: 'shardId-1',
    },
    2_000_000,
  )
  expect(message).toEqual({
    requestContext: {
      requestId: 'r',
      functionArn: 'arn:function',
      condition: 'RetryAttemptsExhausted',
      approximateInvokeCount: 3,
    },
    responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
    version: '1.0',
    timestamp: '1970-01-01T00:33:20.000Z',
    DDBStreamBatchInfo: {
      shardId: 'shardId-1',
      startSequenceNumber: '7',
      endSequenceNumber: '8',
      approximateArrivalOfFirstRecord: '1970-01-01T00:16:40Z',
      approximateArrivalOfLastRecord: '1970-01-01T00:16:41Z',
      batchSize: 2,
      streamArn: STREAM_ARN,
    },
  })
})

describe('the shards whose turn it is', () => {
  const parent = { ShardId: 'p' }
  const child = { ShardId: 'c', ParentShardId: 'p' }
  test.each<[string, string[], string[], string[]]>([
    ['a child waits for its parent', [], [], ['p']],
    ['also while that is being read', ['p'], [], []],
    ['and follows at its end', ['p'], ['p'], ['c']],
    ['none is begun twice', ['p', 'c'], ['p'], []],
  ])('%s', (_, begun, finished, due) => {
    expect(dueShards([parent, child], new Set(begun), new Set(finished))).toEqual(due)
  })

  test('a parent that is no longer kept is not waited for', () => {
    expect(dueShards([child], new Set(), new Set())).toEqual(['c'])
  })
})
