import { marshall } from '@aws-sdk/util-dynamodb'
import { aRecord } from '../../lib/store-contract/fixtures.ts'
import type { GivenAnswer } from './answering-client.ts'

/** Each byte once. */
export const BYTES: Uint8Array = Uint8Array.from({ length: 256 }, (_, index) => index)

/** A record with bytes, as the SDK knows it. */
export const ITEM = marshall({
  ...aRecord({ outcome: { kind: 'value', value: { kind: 'brotli', bytes: BYTES } } }),
  pk: 'op',
  sk: 'op',
})
/** The same record as DynamoDB writes it. */
export const WIRE_ITEM = JSON.parse(
  JSON.stringify(ITEM, (name, value) =>
    name === 'B' ? Buffer.from(Object.values(value as object) as number[]).toString('base64') : value,
  ),
)
/** The answer to a write whose condition has failed. */
export const conditionFailed = (fields: object): GivenAnswer => ({
  statusCode: 400,
  body: { __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException', ...fields },
})
