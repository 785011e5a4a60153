import { CfnResource, Reference, Tokenization } from 'aws-cdk-lib'
import { CfnEventSourceMapping, type EventSourceMapping, type IFunction } from 'aws-cdk-lib/aws-lambda'
import { CfnQueue, type IQueue } from 'aws-cdk-lib/aws-sqs'
import type { IConstruct } from 'constructs'
import { queueNumbers } from '../read/numbers.ts'
import { resourceOf } from '../read/template-resource.ts'
import type { Wiring } from './queue-facts.ts'

/** The queues of this app that feed a function by `addEventSource`, past `IdempotentQueue`. */
export function attachedByHand(consumer: IFunction, stated: Pick<Wiring, 'stated' | 'lease'>): Wiring[] {
  return consumer.node.findAll().flatMap((mapping) => {
    const source = resourceOf<CfnEventSourceMapping>(mapping, CfnEventSourceMapping.CFN_RESOURCE_TYPE_NAME)
    const queue = source?.eventSourceArn === undefined ? undefined : queueOf(source.eventSourceArn)
    if (queue === undefined) return []
    const deadLetterQueue = queueNumbers(queue)?.deadLetterQueue?.queue
    return [{ ...stated, queue, deadLetterQueue, consumer, mapping: mapping as EventSourceMapping }]
  })
}

/** The queue that an ARN is a token of; undefined for an imported queue, a stream or a topic. */
function queueOf(arn: string): IQueue | undefined {
  const tokens = Tokenization.reverseString(arn).tokens
  const target: IConstruct | undefined = tokens.find((token) => Reference.isReference(token))?.target
  const isQueue =
    target !== undefined &&
    CfnResource.isCfnResource(target) &&
    target.cfnResourceType === CfnQueue.CFN_RESOURCE_TYPE_NAME
  return isQueue ? (target.node.scope as IQueue) : undefined
}
