import { CfnResource, Reference, Tokenization } from 'aws-cdk-lib'
import { CfnEventSourceMapping, type IFunction } from 'aws-cdk-lib/aws-lambda'
import { CfnQueue, type IQueue } from 'aws-cdk-lib/aws-sqs'
import type { IConstruct } from 'constructs'
import { queueNumbers } from '../read/numbers.ts'
import { field, resourceOf } from '../read/template-resource.ts'
import type { UnknownQueue, Wiring } from './queue-facts.ts'

/**
 * The queues that feed a function past `IdempotentQueue`: by `addEventSource`, also of its aliases, or by a mapping
 * anywhere in the app. An imported queue is found as well, with nothing known of it.
 */
export function attachedByHand(consumer: IFunction, stated: Pick<Wiring, 'stated' | 'lease'>): Wiring[] {
  return consumer.node.root.node.findAll().flatMap((mapping) => {
    const source = resourceOf<CfnEventSourceMapping>(mapping, CfnEventSourceMapping.CFN_RESOURCE_TYPE_NAME)
    if (source?.eventSourceArn === undefined || isOfConstruct(mapping)) return []
    if (!isBelow(consumer, mapping) && !namesFunction(source, consumer)) return []
    const queue = queueOf(source.eventSourceArn, source)
    if (queue === undefined) return []
    const deadLetterQueue = 'node' in queue ? queueNumbers(queue)?.deadLetterQueue : undefined
    return [{ ...stated, queue, deadLetterQueue, consumer, mapping }]
  })
}

/** An `IdempotentQueue` judges its mapping itself, and so does an `OutboxRelay`. */
function isOfConstruct(mapping: IConstruct): boolean {
  return field(mapping.node.scope, 'eventSourceMapping') === mapping
}

function isBelow(parent: IConstruct, child: IConstruct): boolean {
  return child.node.scopes.includes(parent)
}

function namesFunction({ functionName }: CfnEventSourceMapping, consumer: IFunction): boolean {
  return referencesIn(functionName).some((target) => target === consumer.node.defaultChild)
}

/** The queue that an ARN is a token or the text of; undefined for a stream or another source. */
function queueOf(arn: string, source: CfnEventSourceMapping): IQueue | UnknownQueue | undefined {
  const [target] = referencesIn(arn)
  if (target !== undefined) {
    const isQueue = CfnResource.isCfnResource(target) && target.cfnResourceType === CfnQueue.CFN_RESOURCE_TYPE_NAME
    return isQueue ? (target.node.scope as IQueue) : undefined
  }
  // Every other source that has an ARN is given a position to start at, or the names of its queues.
  const isOfSqs = source.startingPosition === undefined && source.queues === undefined
  return isOfSqs ? { fifo: arn.endsWith('.fifo') } : undefined
}

function referencesIn(text: string): IConstruct[] {
  return Tokenization.reverseString(text)
    .tokens.filter((token) => Reference.isReference(token))
    .map(({ target }) => target)
}
