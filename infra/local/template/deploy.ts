import { CreateTableCommand, DynamoDBClient, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand, SetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { LocalModel } from './model.ts'

/** Creates the model's tables and queues in the local engines. */
export async function deployModel(
  model: LocalModel,
  engines: { dynamoDbEndpoint: string; sqsEndpoint: string },
): Promise<void> {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const dynamoDb = new DynamoDBClient({ endpoint: engines.dynamoDbEndpoint, region: model.region, credentials })
  const sqs = new SQSClient({ endpoint: engines.sqsEndpoint, region: model.region, credentials })
  try {
    await Promise.all(model.tables.map((table) => createTable(dynamoDb, table)))
    await Promise.all(
      model.queues.map((queue) =>
        sqs.send(new CreateQueueCommand({ QueueName: queue.name, Attributes: { ...queue.attributes } })),
      ),
    )
    // After all queues are there: a redrive policy names another queue.
    await Promise.all(model.queues.map((queue) => setRedrivePolicy(sqs, queue)))
  } finally {
    dynamoDb.destroy()
    sqs.destroy()
  }
}

async function createTable(client: DynamoDBClient, table: LocalModel['tables'][number]): Promise<void> {
  await client.send(new CreateTableCommand(table.creation))
  if (table.ttlAttribute === undefined) return
  const TimeToLiveSpecification = { AttributeName: table.ttlAttribute, Enabled: true }
  await client.send(new UpdateTimeToLiveCommand({ TableName: table.name, TimeToLiveSpecification }))
}

async function setRedrivePolicy(client: SQSClient, queue: LocalModel['queues'][number]): Promise<void> {
  if (queue.redrive === undefined) return
  const RedrivePolicy = JSON.stringify({
    deadLetterTargetArn: queue.redrive.deadLetterQueueArn,
    maxReceiveCount: queue.redrive.maxReceiveCount,
  })
  await client.send(new SetQueueAttributesCommand({ QueueUrl: queue.url, Attributes: { RedrivePolicy } }))
}
