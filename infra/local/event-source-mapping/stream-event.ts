import type { _Record, AttributeValue } from '@aws-sdk/client-dynamodb-streams'
import type { DynamoDBRecord, AttributeValue as EventAttributeValue } from 'aws-lambda'

/** A record in the shape Lambda gives it, in which the parts its readers rely on are always there. */
export type StreamEventRecord = DynamoDBRecord & {
  readonly dynamodb: { readonly SequenceNumber: string; readonly ApproximateCreationDateTime: number }
  /** Who did it, when it was not a user: DynamoDB itself, for TTL. */
  readonly userIdentity?: { readonly principalId: string; readonly type: string }
}

/** A record of a stream as Lambda hands it on (https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html). */
export function streamEventRecord(record: _Record, streamArn: string): StreamEventRecord {
  const { dynamodb = {}, userIdentity } = record
  return {
    // The engine's are UUIDs; DynamoDB's have no dashes.
    eventID: (record.eventID ?? '').replaceAll('-', ''),
    eventName: record.eventName as NonNullable<DynamoDBRecord['eventName']>,
    eventVersion: record.eventVersion ?? '',
    eventSource: 'aws:dynamodb',
    awsRegion: streamArn.split(':')[3] ?? '',
    dynamodb: {
      ApproximateCreationDateTime: (dynamodb.ApproximateCreationDateTime?.getTime() ?? 0) / 1000,
      ...(dynamodb.Keys && { Keys: attributes(dynamodb.Keys) }),
      ...(dynamodb.NewImage && { NewImage: attributes(dynamodb.NewImage) }),
      ...(dynamodb.OldImage && { OldImage: attributes(dynamodb.OldImage) }),
      SequenceNumber: dynamodb.SequenceNumber ?? '',
      ...(dynamodb.SizeBytes !== undefined && { SizeBytes: dynamodb.SizeBytes }),
      ...(dynamodb.StreamViewType && { StreamViewType: dynamodb.StreamViewType }),
    },
    // The API writes these two in capitals, the event does not.
    ...(userIdentity && {
      userIdentity: { principalId: userIdentity.PrincipalId ?? '', type: userIdentity.Type ?? '' },
    }),
    eventSourceARN: streamArn,
  }
}

function attributes(image: { readonly [name: string]: AttributeValue }): { [name: string]: EventAttributeValue } {
  return Object.fromEntries(Object.entries(image).map(([name, value]) => [name, attribute(value)]))
}

/** The same value as JSON carries it: bytes in base64. */
function attribute(value: AttributeValue): EventAttributeValue {
  if (value.B !== undefined) return { B: base64(value.B) }
  if (value.BS !== undefined) return { BS: value.BS.map(base64) }
  if (value.L !== undefined) return { L: value.L.map(attribute) }
  if (value.M !== undefined) return { M: attributes(value.M) }
  return value as EventAttributeValue
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
