import { type Acknowledgment, Validations } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'
import type { SampleService } from './sample-service.ts'

const NOT_ASYNCHRONOUS = {
  id: 'Serverless::Serverless-LambdaDLQ',
  reason:
    "Never invoked asynchronously, which is all a function's own dead-letter target is for: API Gateway waits for the answer, and a queue has dead letters of its own.",
}
const NOT_TRACED = {
  id: 'Serverless::Serverless-LambdaTracing',
  reason:
    'Tracing is paid by the trace and needs permissions on all resources (*). The events of each operation answer what happened; switch it on with `tracing` where traces are wanted.',
}
const LAST_STOP = {
  id: 'Serverless::Serverless-SQSRedrivePolicy',
  reason: 'It is the dead-letter queue: messages stay until somebody looks, and an alarm says that they are there.',
}
const QUEUE_HAS_DEAD_LETTERS = {
  id: 'Serverless::Serverless-LambdaEventSourceMappingDestination',
  reason:
    "SQS event sources take no failure destination: what fails goes to the queue's own dead letters, by its redrive policy.",
}

/** What the rule packs find and why it is right as it is, resource by resource, so that anything new is found. */
export function acknowledgeFindings({ payments }: SampleService): void {
  const acknowledge = (path: string, ...findings: Acknowledgment[]): void => {
    const construct = path.split('/').reduce((parent: IConstruct, id) => parent.node.findChild(id), payments)
    Validations.of(construct).acknowledge(...findings)
  }
  for (const name of ['OrdersApi', 'PaymentsWorker']) acknowledge(`${name}/Default`, NOT_ASYNCHRONOUS, NOT_TRACED)
  acknowledge('Payments/DeadLetters', LAST_STOP)
  acknowledge('Payments/EventSourceMapping', QUEUE_HAS_DEAD_LETTERS)
}
