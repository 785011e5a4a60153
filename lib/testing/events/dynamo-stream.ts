import { randomUUID } from 'node:crypto'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda'
import { START_MS } from '../fake-clock.ts'
import { checkDescribed } from './described.ts'
import { ACCOUNT, REGION } from './request.ts'

/** What a test says of a change of an item; the rest is filled in as the stream does. */
export interface ItemChange {
  /** The item's key, as a plain object. */
  readonly keys: Readonly<Record<string, unknown>>
  /** The item after the change, without its key. Absent: it was removed. */
  readonly newImage?: Readonly<Record<string, unknown>>
  /** The item before the change, without its key. Absent: there was none. */
  readonly oldImage?: Readonly<Record<string, unknown>>
  /**
   * Whether TTL has removed it.
   * @defaultValue false
   */
  readonly isExpiry?: boolean
  /** @defaultValue a new one */
  readonly eventId?: string
  /** @defaultValue one after that of the change before */
  readonly sequenceNumber?: string
}

const FIRST_SEQUENCE = 111_000_000_000_000_000_000_001n
const NAMES = ['keys', 'newImage', 'oldImage', 'isExpiry', 'eventId', 'sequenceNumber']

/**
 * An event of a DynamoDB stream with new and old images, as Lambda's event source mapping sends it.
 *
 * @example
 * const event = dynamoStreamEvent({ keys: { id: 'order-1' }, newImage: { cents: 100 } })
 *
 * @throws InvalidOptionError when a change is described wrongly
 */
export function dynamoStreamEvent(...changes: readonly ItemChange[]): DynamoDBStreamEvent {
  return { Records: changes.map(record) }
}

function record(change: ItemChange, index: number): DynamoDBRecord {
  checkDescribed('dynamoStreamEvent', change, NAMES)
  const { keys, newImage, oldImage, isExpiry = false, eventId = randomUUID().replaceAll('-', '') } = change
  const image = (item: Readonly<Record<string, unknown>>) => marshalled({ ...item, ...keys })
  return {
    eventID: eventId,
    eventName: newImage === undefined ? 'REMOVE' : oldImage === undefined ? 'INSERT' : 'MODIFY',
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: REGION,
    dynamodb: {
      ApproximateCreationDateTime: START_MS / 1000,
      Keys: marshalled(keys),
      ...(newImage !== undefined && { NewImage: image(newImage) }),
      ...(oldImage !== undefined && { OldImage: image(oldImage) }),
      SequenceNumber: change.sequenceNumber ?? String(FIRST_SEQUENCE + BigInt(index)),
      SizeBytes: JSON.stringify(change).length,
      StreamViewType: 'NEW_AND_OLD_IMAGES',
    },
    ...(isExpiry && { userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' } }),
    eventSourceARN: `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/table/stream/2026-01-01T00:00:00.000`,
  }
}

type Image = NonNullable<NonNullable<DynamoDBRecord['dynamodb']>['Keys']>

function marshalled(item: Readonly<Record<string, unknown>>): Image {
  // The SDK's type of an attribute has one form more, which is for forms to come.
  return marshall(item, { removeUndefinedValues: true }) as Image
}
