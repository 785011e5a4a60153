import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const PROCESS = fileURLToPath(new URL('process.ts', import.meta.url))

/** What a cold start has taken, in ms. */
export interface ColdStart {
  readonly importMs: number
  readonly firstMs: number
}

/** What a fresh process runs. */
export interface ColdFunction {
  readonly bundle: string
  readonly event: unknown
  readonly endpoint: string
  readonly tableName: string
  /** A bundle that is loaded before anything is timed. */
  readonly base?: string
}

/** @throws Error when the handler did not answer as a function that succeeded does */
export async function coldStart({ bundle, event, endpoint, tableName, base = '' }: ColdFunction): Promise<ColdStart> {
  const env = { ...process.env, TABLE: tableName, AWS_ENDPOINT_URL_DYNAMODB: endpoint }
  const { stdout } = await promisify(execFile)(process.execPath, [PROCESS, bundle, JSON.stringify(event), base], {
    env,
  })
  const { importMs, firstMs, answer } = JSON.parse(stdout) as ColdStart & { answer: Record<string, unknown> }
  const isGood =
    answer.status === 'captured' ||
    answer.statusCode === 201 ||
    JSON.stringify(answer) === '{"batchItemFailures":[]}' ||
    JSON.stringify(answer.value) === '{"status":"captured"}'
  if (!isGood) throw new Error(`a handler answered ${JSON.stringify(answer)}`)
  return { importMs, firstMs }
}
