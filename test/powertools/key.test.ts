import { IdempotencyConfig } from '@aws-lambda-powertools/idempotency'
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { powertoolsHash } from '../../lib/powertools/key.ts'

// The real layer says so of every empty value, and makes an id of it all the same.
vi.spyOn(console, 'warn').mockImplementation(() => undefined)

/** The real layer's own id for a payload. */
function realId(payload: unknown, config: ConstructorParameters<typeof IdempotencyConfig>[0] = {}): unknown {
  const layer = new DynamoDBPersistenceLayer({ tableName: 'unused' })
  layer.configure({ config: new IdempotencyConfig(config), keyPrefix: 'f' })
  return Reflect.apply(Reflect.get(layer, 'getHashedIdempotencyKey'), layer, [payload])
}

describe('the hash of what is selected', () => {
  test('is that of the real package, whatever JSON it is', () => {
    const json = fc.jsonValue({ depthSize: 'medium' }).filter((value) => value !== null)
    fc.assert(
      fc.property(json, fc.constantFrom('md5', 'sha1', 'sha256'), (payload, hashFunction) => {
        expect(`f#${powertoolsHash(hashFunction, payload)}`).toBe(realId(payload, { hashFunction }))
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    { payload: { b: 1, A: 2, a: 3, B: 4 } },
    { payload: { 10: 'x', 9: 'y', z: 'w' } },
    { payload: JSON.parse('{"__proto__":{"x":1},"a":1}') as unknown },
    { payload: { at: new Date(0), none: undefined, list: [undefined, null] } },
    { payload: 'text' },
    { payload: 7 },
    { payload: [null, 'a'] },
    { payload: '' },
  ])('is that of the real package for %j', ({ payload }) => {
    expect(`f#${powertoolsHash('md5', payload)}`).toBe(realId(payload))
  })

  test('is that of a JMESPath with the same answer', () => {
    const event = { body: JSON.stringify({ order: { id: 'o-1' }, user: 'u-1' }), headers: {} }
    const body = JSON.parse(event.body) as { order: { id: string }; user: string; coupon?: string }
    const ids = (selected: unknown, eventKeyJmesPath: string) => [
      `f#${powertoolsHash('md5', selected)}`,
      realId(event, { eventKeyJmesPath }),
    ]
    for (const [own, real] of [
      ids(body.order.id, 'powertools_json(body).order.id'),
      ids([body.order.id, body.user], 'powertools_json(body).[order.id, user]'),
      ids([body.order.id, body.coupon ?? null], 'powertools_json(body).[order.id, coupon]'),
      ids({ o: body.order, c: null }, 'powertools_json(body).{o: order, c: coupon}'),
    ]) {
      expect(own).toBe(real)
    }
  })

  test('of a value without a JSON form is refused', () => {
    expect(() => powertoolsHash('md5', () => 1)).toThrow(/of type function cannot be a key/)
  })
})
