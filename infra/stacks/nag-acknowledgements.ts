import { type Acknowledgment, Validations } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'
import type { SampleService } from './sample-service.ts'

const NOT_ASYNCHRONOUS = {
  id: 'Serverless::Serverless-LambdaDLQ',
  reason:
    "Never invoked asynchronously, which is all a function's own dead-letter target is for: API Gateway waits for the answer, and a queue or stream has dead letters of its own.",
}
const COMES_AGAIN = {
  id: 'Serverless::Serverless-LambdaDLQ',
  reason:
    'Invoked asynchronously only for what stays in the table until it is done: whatever such an invocation leaves, the next run of the reconciler finds.',
}
const NEXT_RUN = {
  id: 'Serverless::Serverless-EventBusDLQ',
  reason:
    'A run of the schedule that is lost says nothing: the next one does the same work, and an alarm tells of errors.',
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
const ownStream = (tableArn: string) => ({
  id: `AwsSolutions::AwsSolutions-IAM5[Resource::${tableArn}/stream/*]`,
  reason: "A table's stream is named by the time it was made; the wildcard stands for the streams of this one table.",
})
const STREAMS_DEAD_LETTERS = {
  id: 'AwsSolutions::AwsSolutions-SQS3',
  reason:
    "It is a dead-letter queue: the failure destination of the stream's event source, which the rule does not see.",
}
const SIGNED = {
  id: 'AwsSolutions::AwsSolutions-APIG4',
  reason:
    'The payment provider has no token: it signs each request, and the function checks that before anything else.',
}

/** What the rule packs find and why it is right as it is, resource by resource, so that anything new is found. */
export function acknowledgeFindings({ data, payments }: SampleService): void {
  const at = (path: string): IConstruct =>
    path.split('/').reduce((parent: IConstruct, id) => parent.node.findChild(id), payments)
  const acknowledge = (path: string, ...findings: Acknowledgment[]): void =>
    Validations.of(at(path)).acknowledge(...findings)
  // As the rule names a resource of the other stack: by its export.
  const imported: unknown = data.resolve(data.exportValue(data.idempotencyTable.table.tableArn))
  const tableArn = String(Reflect.get(Object(imported), 'Fn::ImportValue'))
  for (const name of ['PaymentsWorker', 'LedgerWorker', 'PaymentWebhook', 'OutboxRelay']) {
    acknowledge(`${name}/Default`, NOT_ASYNCHRONOUS, NOT_TRACED)
  }
  for (const name of ['OrdersApi', 'Reconciler']) acknowledge(`${name}/Default`, COMES_AGAIN, NOT_TRACED)
  acknowledge('Reconciler/Schedule', NEXT_RUN)
  acknowledge('OutboxRelay/DeadLetters', LAST_STOP, STREAMS_DEAD_LETTERS)
  acknowledge('OutboxRelay/Role/DefaultPolicy', ownStream(tableArn))
  acknowledge('Api/Default/POST--webhooks--payments', SIGNED)
  for (const queue of ['Payments', 'PaidOrders']) {
    acknowledge(`${queue}/DeadLetters`, LAST_STOP)
    acknowledge(`${queue}/EventSourceMapping`, QUEUE_HAS_DEAD_LETTERS)
  }
}
