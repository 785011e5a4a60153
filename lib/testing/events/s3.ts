import type { S3Event, S3EventRecord } from 'aws-lambda'
import { START_MS } from '../fake-clock.ts'
import { checkDescribed } from './described.ts'
import { REGION } from './request.ts'

/** What a test says of an object that was changed; the rest is filled in as S3 does. */
export interface S3Change {
  /** The object's key, as it is; the event has it encoded. */
  readonly key: string
  /** @defaultValue 'bucket' */
  readonly bucket?: string
  /** @defaultValue 'ObjectCreated:Put' */
  readonly eventName?: string
  /** Orders the changes of one key. @defaultValue one after that of the change before */
  readonly sequencer?: string
  readonly versionId?: string
  /** In bytes. @defaultValue 42 */
  readonly size?: number
}

const FIRST_SEQUENCER = 0x66_00_00_00_00_00_00_00_00n

/**
 * The event by which S3 invokes a function.
 *
 * @example
 * const event = s3Event({ key: 'invoices/1.pdf' })
 *
 * @throws InvalidOptionError when a change is described wrongly
 */
export function s3Event(...changes: readonly S3Change[]): S3Event {
  return { Records: changes.map(record) }
}

function record(change: S3Change, index: number): S3EventRecord {
  checkDescribed('s3Event', change, ['key', 'bucket', 'eventName', 'sequencer', 'versionId', 'size'])
  const { key, bucket = 'bucket', eventName = 'ObjectCreated:Put', versionId, size = 42 } = change
  const { sequencer = (FIRST_SEQUENCER + BigInt(index)).toString(16).toUpperCase().padStart(18, '0') } = change
  return {
    eventVersion: '2.1',
    eventSource: 'aws:s3',
    awsRegion: REGION,
    eventTime: new Date(START_MS).toISOString(),
    eventName,
    userIdentity: { principalId: 'AWS:EXAMPLE' },
    requestParameters: { sourceIPAddress: '192.0.2.1' },
    responseElements: { 'x-amz-request-id': 'C3D13FE58DE4C810', 'x-amz-id-2': 'example' },
    s3: {
      s3SchemaVersion: '1.0',
      configurationId: 'changes',
      bucket: { name: bucket, ownerIdentity: { principalId: 'EXAMPLE' }, arn: `arn:aws:s3:::${bucket}` },
      object: {
        key: encodeURIComponent(key).replaceAll('%20', '+').replaceAll('%2F', '/'),
        size,
        eTag: 'd41d8cd98f00b204e9800998ecf8427e',
        sequencer,
        ...(versionId !== undefined && { versionId }),
      },
    },
  }
}
