import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb'
import { startDynamoDbLocal } from '../engines/dynamodb-local.ts'
import { createFunctionPool, type FunctionPool } from '../lambda/function-pool.ts'
import { createTables } from '../template/deploy.ts'
import type { LocalModel } from '../template/model.ts'
import type { FunctionStart, Platform } from './platform.ts'

/** The platform that is like the real one: DynamoDB Local, and bundled functions in processes of their own. */
export async function startProcesses(options: { readonly javaPath: string }): Promise<Platform> {
  const engine = await startDynamoDbLocal(options)
  const { endpoint } = engine
  const pools = new Map<string, FunctionPool>()
  return Object.freeze({
    dynamoDbEndpoint: endpoint,
    store: undefined,
    canRun: () => true,
    createTables: (model: LocalModel) => createTables(model, endpoint),
    startFunction: ({ model, sqsEndpoint, lambdaEndpoint, overrides, maxEnvironments, ...start }: FunctionStart) => {
      const place = { region: model.region, dynamoDbEndpoint: endpoint, sqsEndpoint, lambdaEndpoint, overrides }
      const pool = createFunctionPool({ ...start, place, ...(maxEnvironments !== undefined && { maxEnvironments }) })
      pools.set(start.definition.name, pool)
      return pool
    },
    processesOf: (functionName: string) => pools.get(functionName),
    items: (tableName: string) => scan(endpoint, tableName),
    stop: engine.stop,
  })
}

async function scan(endpoint: string, TableName: string): Promise<Record<string, unknown>[]> {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  // Started with -sharedDb, the engine has the same tables in every region.
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region: 'local', credentials }))
  const items: Record<string, unknown>[] = []
  for await (const page of paginateScan({ client }, { TableName, ConsistentRead: true })) {
    items.push(...(page.Items ?? []))
  }
  client.destroy()
  return items
}
