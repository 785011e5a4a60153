import type { LocalModel } from '../template/model.ts'
import type { Platform } from './platform.ts'

/** What of a model runs on a platform. */
export interface RunnablePart {
  readonly model: LocalModel
  /** What does not, in words. */
  readonly leftOut: readonly string[]
}

/** Takes out of a model what a platform cannot run: functions with all that leads to them, and streams without DynamoDB. */
export function runnablePart(model: LocalModel, platform: Pick<Platform, 'canRun' | 'dynamoDbEndpoint'>): RunnablePart {
  const functions = model.functions.filter((definition) => platform.canRun(definition, model))
  const names = new Set(functions.map(({ name }) => name))
  const runs = ({ functionName }: { readonly functionName: string }): boolean => names.has(functionName)
  const hasStreams = platform.dynamoDbEndpoint !== undefined
  const streamMappings = model.streamMappings.filter((mapping) => hasStreams && runs(mapping))
  return {
    model: {
      ...model,
      functions,
      streamMappings,
      queueMappings: model.queueMappings.filter(runs),
      schedules: model.schedules.filter(runs),
      routes: model.routes.filter(runs),
    },
    leftOut: [
      ...model.functions.filter(({ name }) => !names.has(name)).map(({ name }) => `the function ${name}`),
      ...model.streamMappings
        .filter((mapping) => runs(mapping) && !streamMappings.includes(mapping))
        .map(({ streamArn, functionName }) => `the stream ${streamArn} to ${functionName}`),
    ],
  }
}
