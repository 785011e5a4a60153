import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb'
import type { FilterPattern } from './filter-pattern.ts'

/** A DynamoDB table of the template. */
export interface LocalTable {
  readonly logicalId: string
  readonly name: string
  readonly creation: CreateTableCommandInput
  /** The ARN the template's references to its stream get; the engine has one of its own for it. */
  readonly streamArn: string | undefined
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
export interface LocalQueueMapping {
  readonly kind: 'queue'
  readonly logicalId: string
  readonly queueArn: string
  readonly functionName: string
  readonly batchSize: number
  readonly windowSeconds: number
  readonly reportsBatchItemFailures: boolean
  /** How many batches may be with the function at once. */
  readonly maxConcurrency: number | undefined
}

/** The wiring of a table's stream to a function. */
export interface LocalStreamMapping {
  readonly kind: 'stream'
  readonly logicalId: string
  readonly streamArn: string
  readonly functionName: string
  readonly batchSize: number
  readonly windowSeconds: number
  readonly startingPosition: 'TRIM_HORIZON' | 'LATEST'
  /** A record goes to the function when one of them matches, or when there are none. */
  readonly filters: readonly FilterPattern[]
  readonly reportsBatchItemFailures: boolean
  readonly bisectsOnError: boolean
  /** Infinity: for ever. */
  readonly maxRetries: number
  /** Infinity: as long as the stream keeps it. */
  readonly maxRecordAgeSeconds: number
  /** Hears of batches that were given up. */
  readonly onFailureQueueArn: string | undefined
}

/** A function that is invoked again and again at a fixed rate. */
export interface LocalSchedule {
  readonly logicalId: string
  readonly arn: string
  readonly functionName: string
  readonly everySeconds: number
  /** Which service's event the function gets, or the text (JSON) the template gives it instead. */
  readonly event: { readonly kind: 'rule' | 'scheduler' } | { readonly kind: 'input'; readonly json: string }
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
  readonly queueMappings: readonly LocalQueueMapping[]
  readonly streamMappings: readonly LocalStreamMapping[]
  readonly schedules: readonly LocalSchedule[]
  readonly routes: readonly LocalRoute[]
}
