import type { IEventBus } from 'aws-cdk-lib/aws-events'
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { grantSendTo } from './queue/grants.ts'
import { IdempotentQueue } from './queue/idempotent-queue.ts'

/** Something a message of the outbox, or a request that is delivered again, can be sent to. */
export type OutboxTarget =
  | { readonly queue: IdempotentQueue | IQueue }
  | { readonly topic: ITopic }
  | { readonly eventBus: IEventBus }
  | { readonly function: IFunction }

/** Lets somebody send to a target, and nothing else. */
export function grantSend(grantee: IGrantable, target: OutboxTarget): void {
  if ('topic' in target) target.topic.grantPublish(grantee)
  else if ('eventBus' in target) target.eventBus.grantPutEventsTo(grantee)
  else if ('function' in target) {
    // Of no version or alias but the one that was given, which CDK's own grant allows.
    const resourceArns = [target.function.functionArn]
    Grant.addToPrincipal({ grantee, actions: ['lambda:InvokeFunction'], resourceArns })
  } else grantSendTo(grantee, target.queue instanceof IdempotentQueue ? target.queue.queue : target.queue)
}
