import type { Resource } from './assembly.ts'
import type { LocalQueue } from './model.ts'
import { asNumber, asNumberOr, asObject, asString } from './narrow.ts'
import { identify, type LocalPlace, mappedProperties, type Resolve } from './resolve.ts'

// CloudFormation's property and the queue attribute of the SQS API have the same name.
const ATTRIBUTES = [
  'ContentBasedDeduplication',
  'DeduplicationScope',
  'DelaySeconds',
  'FifoQueue',
  'FifoThroughputLimit',
  'MaximumMessageSize',
  'MessageRetentionPeriod',
  'ReceiveMessageWaitTimeSeconds',
  'VisibilityTimeout',
]
// Encryption, access and labels: the emulator has none, and messages behave the same without. Who may redrive out of a
// queue (RedriveAllowPolicy) restricts set-up, not running.
const HARMLESS = [
  'KmsDataKeyReusePeriodSeconds',
  'KmsMasterKeyId',
  'RedriveAllowPolicy',
  'SqsManagedSseEnabled',
  'Tags',
]
const DEFAULT_VISIBILITY_SECONDS = 30

/** Maps a queue of the template. @throws UnsupportedTemplateError. */
export function mapQueue(resource: Resource, resolve: Resolve, place: LocalPlace): LocalQueue {
  const where = `${resource.stack}/${resource.logicalId}`
  const properties = mappedProperties(resource, resolve, [...ATTRIBUTES, 'QueueName', 'RedrivePolicy'], HARMLESS)
  const { name, ref, attributes } = identify(resource, place)
  const redrive = properties.RedrivePolicy === undefined ? undefined : asObject(properties.RedrivePolicy, where)
  return {
    logicalId: resource.logicalId,
    name,
    url: ref,
    arn: asString(attributes.Arn, where),
    visibilitySeconds: asNumberOr(properties.VisibilityTimeout, DEFAULT_VISIBILITY_SECONDS, where),
    redrive: redrive && {
      deadLetterQueueArn: asString(redrive.deadLetterTargetArn, where),
      maxReceiveCount: asNumber(redrive.maxReceiveCount, where),
    },
    attributes: Object.fromEntries(
      ATTRIBUTES.filter((attribute) => properties[attribute] !== undefined).map((attribute) => [
        attribute,
        String(properties[attribute]),
      ]),
    ),
  }
}
