import type { Store } from '../../../lib/index.ts'
import type { FunctionPool } from '../lambda/function-pool.ts'
import type { InvocableFunction } from '../lambda/invocation.ts'
import type { LocalFunction, LocalModel } from '../template/model.ts'

/** What a function is started with. */
export interface FunctionStart {
  readonly definition: LocalFunction
  /** What it is a part of. */
  readonly model: LocalModel
  readonly sqsEndpoint: string
  /** Where functions invoke each other. */
  readonly lambdaEndpoint: string
  /** Values that replace the template's, by variable name. */
  readonly overrides: { readonly [name: string]: string }
  readonly logDirectory: string
  /** How many invocations of it run at once at most, where the template sets no limit. */
  readonly maxEnvironments: number | undefined
  /** Sees every line the function writes. */
  readonly onLine: (line: string) => void
}

/** Where the service has its tables, and what its functions run in. */
export interface Platform {
  /** Where DynamoDB and its streams are; undefined where there is none. */
  readonly dynamoDbEndpoint: string | undefined
  /** Where operations are kept, where there is no DynamoDB. */
  readonly store: Store | undefined
  /** Whether it can run this function of the model. */
  canRun(definition: LocalFunction, model: LocalModel): boolean
  createTables(model: LocalModel): Promise<void>
  startFunction(start: FunctionStart): InvocableFunction
  /** The processes of a function, where it has some. */
  processesOf(functionName: string): FunctionPool | undefined
  /** The items of a table, for whoever looks into the books. */
  items(tableName: string): Promise<readonly { readonly [attribute: string]: unknown }[]>
  /** Stops what is no function: those have their own end. */
  stop(): Promise<void>
}
