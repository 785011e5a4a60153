import type { LocalFunction } from '../template/model.ts'

/** Where a function's environment points when it runs here. */
export interface FunctionPlace {
  readonly region: string
  readonly dynamoDbEndpoint: string
  readonly sqsEndpoint: string
  /** Where functions invoke each other. Absent: nowhere. */
  readonly lambdaEndpoint?: string
  /** Values that replace the template's, by variable name. */
  readonly overrides?: { readonly [name: string]: string }
}

/**
 * The variables a function finds, as in Lambda (https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html),
 * plus the endpoints of the local engines. Nothing of this process's own environment but PATH gets in.
 */
export function environmentVariables(
  definition: LocalFunction,
  place: FunctionPlace,
  runtimeApi: string,
): Record<string, string> {
  return {
    ...definition.environment,
    ...place.overrides,
    PATH: process.env.PATH ?? '',
    LANG: 'en_US.UTF-8',
    TZ: ':UTC',
    LAMBDA_TASK_ROOT: definition.codeDirectory,
    _HANDLER: definition.handler,
    AWS_LAMBDA_RUNTIME_API: runtimeApi,
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMegabytes),
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${definition.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_REGION: place.region,
    AWS_DEFAULT_REGION: place.region,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SESSION_TOKEN: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: place.dynamoDbEndpoint,
    AWS_ENDPOINT_URL_DYNAMODB_STREAMS: place.dynamoDbEndpoint,
    AWS_ENDPOINT_URL_SQS: place.sqsEndpoint,
    ...(place.lambdaEndpoint !== undefined && { AWS_ENDPOINT_URL_LAMBDA: place.lambdaEndpoint }),
  }
}
