import { GetQueueAttributesCommand, type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'

/** How many messages a queue holds, whether they can be received now or not. */
export async function messagesOn(sqs: SQSClient, queueUrl: string): Promise<number> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
  )
  const names = [
    'ApproximateNumberOfMessages',
    'ApproximateNumberOfMessagesNotVisible',
    'ApproximateNumberOfMessagesDelayed',
  ] as const
  return names.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0)
}

/** The bodies of all messages of a queue; it is left empty-looking for the queue's visibility. */
export async function drainBodies(client: SQSClient, queueUrl: string): Promise<string[]> {
  const bodies: string[] = []
  for (;;) {
    const command = new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 600 })
    const { Messages = [] } = await client.send(command)
    if (Messages.length === 0) return bodies
    bodies.push(...Messages.map(({ Body = '' }: Message) => Body))
  }
}
