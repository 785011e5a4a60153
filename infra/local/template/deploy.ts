import { CreateTableCommand, DynamoDBClient, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand, SetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { LocalModel } from './model.ts'

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }

/** Creates the model's tables in DynamoDB Local. */
export async function createTables(model: LocalModel, endpoint: string): Promise<void> {
  const dynamoDb = new DynamoDBClient({ endpoint, region: model.region, credentials })
  try {
    await Promise.all(model.tables.map((table) => createTable(dynamoDb, table)))
  } finally {
    dynamoDb.destroy()
  }
}

/** Creates the model's queues in the SQS emulator. */
export async function createQueues(model: LocalModel, endpoint: string): Promise<void> {
  const sqs = new SQSClient({ endpoint, region: model.region, credentials })
  try {
    await Promise.all(
      model.queues.map((queue) =>
        sqs.send(new CreateQueueCommand({ QueueName: queue.name, Attributes: { ...queue.attributes } })),
      ),
    )
    // After all queues are there: a redrive policy names another queue.
    await Promise.all(model.queues.map((queue) => setRedrivePolicy(sqs, queue)))
  } finally {
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
