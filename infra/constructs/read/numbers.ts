import { CfnFunction, type IFunction } from 'aws-cdk-lib/aws-lambda'
import { CfnQueue, type IQueue } from 'aws-cdk-lib/aws-sqs'
import { field, knownNumber, resourceOf } from './template-resource.ts'

// What CloudFormation takes where a template says nothing.
const DEFAULT_TIMEOUT_SECONDS = 3
const DEFAULT_VISIBILITY_SECONDS = 30
const DEFAULT_QUEUE_RETENTION_SECONDS = 345_600

/** What the template says of a function. */
export interface FunctionNumbers {
  readonly timeoutSeconds?: number
  readonly reservedConcurrency?: number
}

/** The numbers of a function of this app, or of the function behind an alias or version; none of an imported one or of tokens. */
export function functionNumbers(fn: IFunction): FunctionNumbers {
  const target: unknown = field(fn, 'lambda') ?? fn
  const resource = resourceOf<CfnFunction>(target as IFunction, CfnFunction.CFN_RESOURCE_TYPE_NAME)
  if (resource === undefined) return {}
  return {
    timeoutSeconds: knownNumber(resource.timeout ?? DEFAULT_TIMEOUT_SECONDS),
    reservedConcurrency: knownNumber(resource.reservedConcurrentExecutions),
  }
}

/** What the template says of a queue. */
export interface QueueNumbers {
  readonly visibilitySeconds?: number
  readonly retentionSeconds?: number
  /** Absent: the queue has none, or it is imported. */
  readonly deadLetterQueue?: IQueue
  readonly maxReceiveCount?: number
}

/** The numbers of a queue of this app; undefined for an imported one. */
export function queueNumbers(queue: IQueue): QueueNumbers | undefined {
  const resource = resourceOf<CfnQueue>(queue, CfnQueue.CFN_RESOURCE_TYPE_NAME)
  if (resource === undefined) return undefined
  const own = field(queue, 'deadLetterQueue')
  return {
    visibilitySeconds: knownNumber(resource.visibilityTimeout ?? DEFAULT_VISIBILITY_SECONDS),
    retentionSeconds: knownNumber(resource.messageRetentionPeriod ?? DEFAULT_QUEUE_RETENTION_SECONDS),
    deadLetterQueue: field(own, 'queue') as IQueue | undefined,
    maxReceiveCount: knownNumber(field(own, 'maxReceiveCount')),
  }
}
