import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb'

/** A DynamoDB table of the template. */
export interface LocalTable {
  readonly logicalId: string
  readonly name: string
  readonly creation: CreateTableCommandInput
  /** The attribute DynamoDB's TTL looks at. */
  readonly ttlAttribute: string | undefined
}

/** An SQS queue of the template. */
export interface LocalQueue {
  readonly logicalId: string
  readonly name: string
  readonly url: string
  readonly arn: string
  readonly visibilitySeconds: number
  readonly redrive: { readonly deadLetterQueueArn: string; readonly maxReceiveCount: number } | undefined
  /** The attributes for CreateQueue, as strings; the redrive policy apart. */
  readonly attributes: { readonly [name: string]: string }
}

/** A Lambda function of the template with its bundled code. */
export interface LocalFunction {
  readonly logicalId: string
  readonly name: string
  readonly arn: string
  readonly codeDirectory: string
  /** `file.export`, as in the template. */
  readonly handler: string
  readonly timeoutSeconds: number
  readonly memoryMegabytes: number
  readonly reservedConcurrency: number | undefined
  readonly environment: { readonly [name: string]: string }
}

/** The wiring of a queue to a function. */
export interface LocalEventSourceMapping {
  readonly logicalId: string
  readonly queueArn: string
  readonly functionName: string
  readonly batchSize: number
  readonly windowSeconds: number
  readonly reportsBatchItemFailures: boolean
  /** How many batches may be with the function at once. */
  readonly maxConcurrency: number | undefined
}

/** The JWT authorizer of a route. */
export interface LocalJwtAuthorizer {
  readonly issuer: string
  readonly audiences: readonly string[]
  /** Lower-cased name of the header that carries the token. */
  readonly header: string
  readonly scopes: readonly string[]
}

/** A route of the HTTP API. */
export interface LocalRoute {
  /** As in the template: `POST /orders`, `ANY /{proxy+}`, `$default`. */
  readonly routeKey: string
  readonly functionName: string
  readonly authorizer: LocalJwtAuthorizer | undefined
  readonly timeoutMs: number
}

/** Everything of the synthesized template that decides how the service behaves. */
export interface LocalModel {
  readonly region: string
  readonly tables: readonly LocalTable[]
  readonly queues: readonly LocalQueue[]
  readonly functions: readonly LocalFunction[]
  readonly mappings: readonly LocalEventSourceMapping[]
  readonly routes: readonly LocalRoute[]
}
