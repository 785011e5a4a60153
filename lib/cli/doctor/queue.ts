import type { SQSClient } from '@aws-sdk/client-sqs'
import type { DeadLetterFacts } from '../../checks/queue-facts.ts'
import { CliFailure, EXIT } from '../exit.ts'

/** What SQS tells of a queue. */
export interface QueueAttributes {
  readonly arn: string
  readonly fifo: boolean
  readonly visibilitySeconds?: number
  readonly queueRetentionSeconds?: number
  readonly deadLetters: DeadLetterFacts
}

/** Reads a queue and its dead letters. @throws CliFailure when the package is missing; the SDK's error */
export async function readQueue(queueUrl: string, region: string | undefined): Promise<QueueAttributes> {
  const { SQSClient, GetQueueAttributesCommand, GetQueueUrlCommand } = await import('@aws-sdk/client-sqs').catch(() => {
    throw new CliFailure(EXIT.usage, '--queue needs @aws-sdk/client-sqs: npm install --save-dev @aws-sdk/client-sqs')
  })
  const own = /^https:\/\/sqs\.([\w-]+)\.amazonaws\./.exec(queueUrl)?.[1] ?? region
  const client: SQSClient = new SQSClient({
    maxAttempts: 2,
    // The region's endpoint is as good, and a local engine's host names are not known everywhere.
    useQueueUrlAsEndpoint: false,
    ...(own !== undefined && { region: own }),
  })
  const attributesOf = async (QueueUrl: string) => {
    const { Attributes = {} } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }))
    return Attributes
  }
  try {
    const attributes = await attributesOf(queueUrl)
    const policy = redrivePolicy(attributes.RedrivePolicy)
    return {
      arn: attributes.QueueArn ?? '',
      fifo: attributes.FifoQueue === 'true' || queueUrl.endsWith('.fifo'),
      ...numbers(attributes),
      deadLetters: policy === undefined ? { kind: 'none' } : await deadLettersOf(policy),
    }
  } finally {
    client.destroy()
  }

  async function deadLettersOf({ arn, maxReceiveCount }: RedrivePolicy): Promise<DeadLetterFacts> {
    const [, , , , account, name] = arn.split(':')
    try {
      const { QueueUrl = '' } = await client.send(
        new GetQueueUrlCommand({ QueueName: name, QueueOwnerAWSAccountId: account }),
      )
      const { queueRetentionSeconds } = numbers(await attributesOf(QueueUrl))
      return {
        kind: 'known',
        fifo: arn.endsWith('.fifo'),
        maxReceiveCount,
        ...(queueRetentionSeconds !== undefined && { retentionSeconds: queueRetentionSeconds }),
      }
    } catch {
      return { kind: 'unknown' }
    }
  }
}

interface RedrivePolicy {
  readonly arn: string
  readonly maxReceiveCount: number
}

function redrivePolicy(json: string | undefined): RedrivePolicy | undefined {
  if (json === undefined) return undefined
  const policy: unknown = JSON.parse(json)
  const arn: unknown = Reflect.get(Object(policy), 'deadLetterTargetArn')
  return typeof arn === 'string'
    ? { arn, maxReceiveCount: Number(Reflect.get(Object(policy), 'maxReceiveCount')) }
    : undefined
}

function numbers({ VisibilityTimeout, MessageRetentionPeriod }: Record<string, string>): {
  readonly visibilitySeconds?: number
  readonly queueRetentionSeconds?: number
} {
  return {
    ...(VisibilityTimeout !== undefined && { visibilitySeconds: Number(VisibilityTimeout) }),
    ...(MessageRetentionPeriod !== undefined && { queueRetentionSeconds: Number(MessageRetentionPeriod) }),
  }
}
