import type { TestProject } from 'vitest/node'
import { type DynamoDbLocal, startDynamoDbLocal } from '../../infra/local/engines/dynamodb-local.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Endpoint of the one DynamoDB Local that a test run shares; tables need names of their own. */
    dynamoDbEndpoint: string
  }
}

let engine: DynamoDbLocal | undefined

/** Starts the run's DynamoDB Local: tests get it by `inject('dynamoDbEndpoint')`. */
export async function setup(project: TestProject): Promise<void> {
  engine = await startDynamoDbLocal()
  project.provide('dynamoDbEndpoint', engine.endpoint)
}

/** Stops it at the end of the run. */
export async function teardown(): Promise<void> {
  await engine?.stop()
}
