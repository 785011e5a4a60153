import type { EventSourceMappingConfiguration, LambdaClient } from '@aws-sdk/client-lambda'
import { CliFailure, EXIT } from '../exit.ts'

/** What Lambda tells of a function and of the queues that feed it. */
export interface FunctionFacts {
  readonly timeoutSeconds?: number
  readonly reservedConcurrency?: number
  /** Of its environment only what lambda-once put there. */
  readonly tableName?: string
  readonly retentionSeconds?: number
  readonly eventSources: readonly EventSource[]
}

/** An event source mapping. */
export interface EventSource {
  readonly arn: string
  readonly isEnabled: boolean
  readonly batchSize: number
  readonly batchingWindowSeconds: number
  readonly maxConcurrency?: number
  readonly reportsBatchItemFailures: boolean
  readonly filters: number
  /** Only of a stream. */
  readonly stream?: StreamSettings
}

/** How a stream is read. */
export interface StreamSettings {
  readonly startsAtHorizon: boolean
  /** −1: until the record leaves the stream. */
  readonly retryAttempts: number
  readonly hasFailureDestination: boolean
}

/** @throws CliFailure when the package is missing; the SDK's error */
export async function readFunction(FunctionName: string, region: string | undefined): Promise<FunctionFacts> {
  const sdk = await import('@aws-sdk/client-lambda').catch(() => {
    throw new CliFailure(
      EXIT.usage,
      '--function needs @aws-sdk/client-lambda: npm install --save-dev @aws-sdk/client-lambda',
    )
  })
  const client: LambdaClient = new sdk.LambdaClient({ maxAttempts: 2, ...(region !== undefined && { region }) })
  try {
    const configuration = await client.send(new sdk.GetFunctionConfigurationCommand({ FunctionName }))
    const concurrency = await client
      .send(new sdk.GetFunctionConcurrencyCommand({ FunctionName }))
      .catch(() => ({ ReservedConcurrentExecutions: undefined }))
    const eventSources: EventSource[] = []
    for await (const { EventSourceMappings = [] } of sdk.paginateListEventSourceMappings(
      { client },
      { FunctionName },
    )) {
      eventSources.push(...EventSourceMappings.map(eventSourceOf))
    }
    const { IDEMPOTENCY_TABLE, RETENTION_SECONDS } = configuration.Environment?.Variables ?? {}
    const { ReservedConcurrentExecutions: reserved } = concurrency
    return {
      eventSources,
      ...(configuration.Timeout !== undefined && { timeoutSeconds: configuration.Timeout }),
      ...(reserved !== undefined && { reservedConcurrency: reserved }),
      ...(IDEMPOTENCY_TABLE !== undefined && { tableName: IDEMPOTENCY_TABLE }),
      ...(RETENTION_SECONDS !== undefined && { retentionSeconds: Number(RETENTION_SECONDS) }),
    }
  } finally {
    client.destroy()
  }
}

function eventSourceOf(mapping: EventSourceMappingConfiguration): EventSource {
  const { EventSourceArn = '', State, BatchSize = 10, MaximumBatchingWindowInSeconds = 0 } = mapping
  const { ScalingConfig, FunctionResponseTypes = [], FilterCriteria, StartingPosition } = mapping
  return {
    arn: EventSourceArn,
    isEnabled: State !== 'Disabled' && State !== 'Disabling',
    batchSize: BatchSize,
    batchingWindowSeconds: MaximumBatchingWindowInSeconds,
    ...(ScalingConfig?.MaximumConcurrency !== undefined && { maxConcurrency: ScalingConfig.MaximumConcurrency }),
    reportsBatchItemFailures: FunctionResponseTypes.includes('ReportBatchItemFailures'),
    filters: FilterCriteria?.Filters?.length ?? 0,
    ...(StartingPosition !== undefined && {
      stream: {
        startsAtHorizon: StartingPosition === 'TRIM_HORIZON',
        retryAttempts: mapping.MaximumRetryAttempts ?? -1,
        hasFailureDestination: mapping.DestinationConfig?.OnFailure?.Destination !== undefined,
      },
    }),
  }
}
