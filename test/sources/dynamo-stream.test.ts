import { describe, expect, test } from 'vitest'
import { dynamoStream, isTtlRemoval } from '../../lib/batch/index.ts'
import { streamRecord, ttlRemoval } from './events.ts'
import { consumer } from './set-up.ts'

describe('changes of a table', () => {
  test('are read as plain items, with numbers by all their digits', async () => {
    const { deliver, bodies, keys } = consumer(dynamoStream())
    const image = {
      id: { S: 'o-1' },
      cents: { N: '1999' },
      rate: { N: '0.5' },
      serial: { N: '9007199254740993' },
      tags: { SS: ['a'] },
      lines: { L: [{ M: { n: { N: '1' } } }] },
      note: { NULL: true },
    }
    const event = {
      Records: [
        streamRecord('1', { id: 'o-1', newImage: image }),
        streamRecord('2', { id: 'o-1', eventName: 'MODIFY', oldImage: { id: { S: 'o-1' } } }),
        streamRecord('3', { id: 'o-1', eventName: 'REMOVE', newImage: null, oldImage: { id: { S: 'o-1' } } }),
      ],
    }
    expect(await deliver(event)).toEqual([])
    expect(bodies).toEqual([
      {
        kind: 'INSERT',
        keys: { id: 'o-1' },
        newImage: {
          id: 'o-1',
          cents: 1999,
          rate: 0.5,
          serial: 9007199254740993n,
          tags: new Set(['a']),
          lines: [{ n: 1 }],
          note: null,
        },
      },
      { kind: 'MODIFY', keys: { id: 'o-1' }, newImage: { id: 'o-1' }, oldImage: { id: 'o-1' } },
      { kind: 'REMOVE', keys: { id: 'o-1' }, oldImage: { id: 'o-1' } },
    ])
    expect(keys).toEqual(['event-1', 'event-2', 'event-3'])
  })

  test('run once, whatever the number of deliveries', async () => {
    const { deliver, bodies } = consumer(dynamoStream())
    await deliver({ Records: [streamRecord('1')] })
    expect(await deliver({ Records: [streamRecord('1')] })).toEqual([])
    expect(bodies).toHaveLength(1)
  })

  test('stop at the first failure, and the shard is read again from there', async () => {
    const { deliver, bodies, statuses } = consumer(dynamoStream(), {
      work: ({ keys }) => {
        if (keys.id === '2') throw new Error('boom')
      },
    })
    expect(await deliver({ Records: ['1', '2', '3'].map((number) => streamRecord(number)) })).toEqual(['2'])
    expect(bodies.map(({ keys }) => keys.id)).toEqual(['1', '2'])
    expect(statuses()).toEqual(['COMPLETED', 'RETRYABLE'])
  })

  test.each<[string, object]>([
    ['that names no item', { dynamodb: { SequenceNumber: '2' } }],
    ['of an unknown kind', { eventName: 'TRUNCATE' }],
    [
      'with an image that is none',
      { dynamodb: { SequenceNumber: '2', Keys: { id: { S: '2' } }, NewImage: { id: 'x' } } },
    ],
  ])('%s is poison, with no claim', async (_name, over) => {
    const { deliver, reasons, store } = consumer(dynamoStream())
    expect(await deliver({ Records: [{ ...streamRecord('2'), ...over }] })).toEqual(['2'])
    expect(reasons()).toEqual(['poison'])
    expect(store.records()).toEqual([])
  })

  test('under a business key are told apart by what they change', async () => {
    const { deliver, bodies, reasons } = consumer(dynamoStream(), {
      options: { key: ({ body }: { body: { keys: { id: string } } }) => body.keys.id },
    })
    const again = { ...streamRecord('2', { id: 'o-1' }), eventID: 'another' }
    expect(await deliver({ Records: [streamRecord('1', { id: 'o-1' }), again] })).toEqual([])
    expect(bodies).toHaveLength(1)
    expect(
      await deliver({ Records: [streamRecord('3', { id: 'o-1', newImage: { id: { S: 'o-1' }, n: { N: '2' } } })] }),
    ).toEqual(['3'])
    expect(reasons()).toEqual(['mismatch'])
  })
})

describe('removals by TTL', () => {
  test('are a kind of their own, never taken for what a user has done', async () => {
    const { deliver, bodies } = consumer(dynamoStream())
    expect(await deliver({ Records: [ttlRemoval('1')] })).toEqual([])
    expect(bodies).toEqual([{ kind: 'EXPIRE', keys: { id: '1' }, oldImage: { id: 'old' } }])
    expect(isTtlRemoval(ttlRemoval('1'))).toBe(true)
    expect(isTtlRemoval(streamRecord('1', { eventName: 'REMOVE' }))).toBe(false)
    expect(isTtlRemoval({ eventName: 'REMOVE', userIdentity: null })).toBe(false)
  })

  test('may be passed over, without a claim', async () => {
    const { deliver, bodies, store } = consumer(dynamoStream({ ttlRemovals: 'skip' }))
    const userRemoval = streamRecord('2', { eventName: 'REMOVE', newImage: null })
    expect(await deliver({ Records: [ttlRemoval('1'), userRemoval] })).toEqual([])
    expect(bodies).toEqual([{ kind: 'REMOVE', keys: { id: '2' } }])
    expect(store.records()).toHaveLength(1)
  })
})
