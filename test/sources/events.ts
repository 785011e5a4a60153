import type {
  DynamoDBRecord,
  EventBridgeEvent,
  KinesisStreamEvent,
  KinesisStreamRecord,
  MSKEvent,
  S3EventRecord,
  SNSEvent,
} from 'aws-lambda'
import type { StreamRecord } from '../../lib/batch/index.ts'

export const STREAM_ARN = 'arn:aws:kinesis:eu-central-1:111122223333:stream/orders'
export const TABLE_STREAM_ARN = 'arn:aws:dynamodb:eu-central-1:111122223333:table/orders/stream/2026-01-01T00:00:00.000'
export const TOPIC_ARN = 'arn:aws:sns:eu-central-1:111122223333:orders'
export const CLUSTER_ARN = 'arn:aws:kafka:eu-central-1:111122223333:cluster/orders/1'

const json = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** A record of Kinesis. The data is sent as JSON unless it is text or bytes. */
export function kinesisRecord(
  sequenceNumber: string,
  data: unknown = { id: sequenceNumber },
  { shard = 'shardId-000000000000', ...rest }: { shard?: string } & Partial<KinesisStreamRecord> = {},
): KinesisStreamRecord {
  return {
    kinesis: {
      kinesisSchemaVersion: '1.0',
      partitionKey: 'p',
      sequenceNumber,
      data: (data instanceof Uint8Array ? Buffer.from(data) : Buffer.from(json(data))).toString('base64'),
      approximateArrivalTimestamp: 1_700_000_000.1,
    },
    eventSource: 'aws:kinesis',
    eventVersion: '1.0',
    eventID: `${shard}:${sequenceNumber}`,
    eventName: 'aws:kinesis:record',
    invokeIdentityArn: 'arn:aws:iam::111122223333:role/orders',
    awsRegion: 'eu-central-1',
    eventSourceARN: STREAM_ARN,
    ...rest,
  }
}

export function kinesisEvent(...Records: KinesisStreamRecord[]): KinesisStreamEvent {
  return { Records }
}

/** A change of an item of the table `orders`. */
export function streamRecord(
  SequenceNumber: string,
  {
    id = SequenceNumber,
    newImage = { id: { S: id } },
    oldImage,
    ...rest
  }: { id?: string; newImage?: object | null; oldImage?: object } & Partial<DynamoDBRecord> = {},
): StreamRecord {
  return {
    eventID: `event-${SequenceNumber}`,
    eventName: 'INSERT',
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'eu-central-1',
    dynamodb: {
      ApproximateCreationDateTime: 1_700_000_000,
      Keys: { id: { S: id } },
      ...(newImage !== null && { NewImage: newImage as never }),
      ...(oldImage !== undefined && { OldImage: oldImage as never }),
      SequenceNumber,
      SizeBytes: 42,
      StreamViewType: 'NEW_AND_OLD_IMAGES',
    },
    ...rest,
    eventSourceARN: TABLE_STREAM_ARN,
  }
}

/** As the stream shows a removal by the table's TTL. */
export function ttlRemoval(sequenceNumber: string): StreamRecord {
  return streamRecord(sequenceNumber, {
    eventName: 'REMOVE',
    newImage: null,
    oldImage: { id: { S: 'old' } },
    userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' },
  })
}

/** A Kafka event with the values of each partition, by offset. */
export function kafkaEvent(partitions: Record<string, unknown[]>, over: Partial<MSKEvent> = {}): MSKEvent {
  return {
    eventSource: 'aws:kafka',
    eventSourceArn: CLUSTER_ARN,
    bootstrapServers: 'b-2.example:9098,b-1.example:9098',
    records: Object.fromEntries(
      Object.entries(partitions).map(([name, values]) => [
        name,
        values.map((value, offset) => ({
          topic: name.slice(0, name.lastIndexOf('-')),
          partition: Number(name.slice(name.lastIndexOf('-') + 1)),
          offset,
          timestamp: 1_700_000_000_000 + offset,
          timestampType: 'CREATE_TIME' as const,
          key: Buffer.from('k').toString('base64'),
          value: (value === null ? null : Buffer.from(json(value)).toString('base64')) as string,
          headers: [],
        })),
      ]),
    ),
    ...over,
  }
}

/** The text that SNS puts into a queue. */
export function notification(
  message: unknown,
  { id = crypto.randomUUID(), key, ...rest }: { id?: string; key?: string; [field: string]: unknown } = {},
): Record<string, unknown> {
  return {
    Type: 'Notification',
    MessageId: id,
    TopicArn: TOPIC_ARN,
    Message: json(message),
    Timestamp: new Date().toISOString(),
    SignatureVersion: '1',
    Signature: crypto.randomUUID(),
    SigningCertURL: 'https://sns.eu-central-1.amazonaws.com/certificate.pem',
    UnsubscribeURL: 'https://sns.eu-central-1.amazonaws.com/?Action=Unsubscribe',
    ...(key !== undefined && { MessageAttributes: { 'Idempotency-Key': { Type: 'String', Value: key } } }),
    ...rest,
  }
}

/** The event by which SNS invokes a function. */
export function snsEvent(...messages: Record<string, unknown>[]): SNSEvent {
  return {
    Records: messages.map((Sns) => ({
      EventVersion: '1.0',
      EventSubscriptionArn: `${TOPIC_ARN}:1`,
      EventSource: 'aws:sns',
      Sns: Sns as never,
    })),
  }
}

export function busEvent<D>(detail: D, over: Partial<EventBridgeEvent<string, D>> = {}): EventBridgeEvent<string, D> {
  return {
    version: '0',
    id: crypto.randomUUID(),
    'detail-type': 'OrderPlaced',
    source: 'shop.orders',
    account: '111122223333',
    time: new Date().toISOString(),
    region: 'eu-central-1',
    resources: [],
    detail,
    ...over,
  }
}

/** A record of an S3 notification. */
export function s3Record(
  key = 'invoices/1.pdf',
  { sequencer = '0A1B2C3D4E5F678901', eventName = 'ObjectCreated:Put', ...object }: Record<string, unknown> = {},
): S3EventRecord {
  return {
    eventVersion: '2.1',
    eventSource: 'aws:s3',
    awsRegion: 'eu-central-1',
    eventTime: new Date().toISOString(),
    eventName: String(eventName),
    userIdentity: { principalId: 'AWS:EXAMPLE' },
    requestParameters: { sourceIPAddress: '192.0.2.1' },
    responseElements: { 'x-amz-request-id': 'C3D13FE58DE4C810', 'x-amz-id-2': 'example' },
    s3: {
      s3SchemaVersion: '1.0',
      configurationId: 'upload',
      bucket: { name: 'invoices', ownerIdentity: { principalId: 'EXAMPLE' }, arn: 'arn:aws:s3:::invoices' },
      object: {
        key,
        size: 42,
        eTag: 'd41d8cd98f00b204e9800998ecf8427e',
        ...(sequencer !== null && { sequencer }),
        ...object,
      } as never,
    },
  }
}
