import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda'

/** What is compared: this toolkit, Powertools for AWS Lambda, and the least that can be written by hand. */
export const SIDE_NAMES = ['lambda-once', 'powertools', 'floor'] as const
export type SideName = (typeof SIDE_NAMES)[number]

/** The order that a handler is given. */
export interface Order {
  readonly id: string
  readonly customer: string
  readonly currency: string
  readonly items: readonly { readonly sku: string; readonly quantity: number; readonly cents: number }[]
}

/** What one side is set up with. Both sides get a client of the same options. */
export interface SideSettings {
  readonly client: DynamoDBClient
  readonly tableName: string
  /** What the handler returns. */
  readonly result: () => unknown
  /** How many records of a batch run at the same time, where that can be said. */
  readonly concurrency: number
}

/** One way to make a handler safe to repeat. */
export interface Side {
  /** Runs one operation; a second one with the same id is a duplicate. */
  once(order: Order, context: Context): Promise<unknown>
  /** Handles a batch of SQS. */
  batch(event: SQSEvent, context: Context): Promise<SQSBatchResponse>
}
