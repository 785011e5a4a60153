// What runs inside an execution environment: Lambda's Node.js runtime in small, against the same Runtime API
// (https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html). It imports nothing of this project.
import { existsSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

type Handler = (event: unknown, context: unknown) => unknown

const { env } = process
const [host, port] = (env.AWS_LAMBDA_RUNTIME_API ?? '').split(':')
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

// node:http, not fetch: waiting for the next invocation may take longer than fetch's five-minute header timeout.
function call(method: string, path: string, body = ''): Promise<{ headers: IncomingHttpHeaders; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host, port, agent, method, path: `/2018-06-01/runtime/${path}` }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks).toString('utf8') }))
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

function describe(error: unknown, fallbackType: string): string {
  if (!(error instanceof Error)) {
    return JSON.stringify({ errorType: fallbackType, errorMessage: String(error), trace: [] })
  }
  return JSON.stringify({ errorType: error.name, errorMessage: error.message, trace: (error.stack ?? '').split('\n') })
}

async function loadHandler(): Promise<Handler> {
  const [file = '', exportName = ''] = (env._HANDLER ?? '').split('.')
  const root = env.LAMBDA_TASK_ROOT ?? process.cwd()
  const path = ['.mjs', '.js', '.cjs'].map((ending) => join(root, file + ending)).find(existsSync)
  if (path === undefined) throw new Error(`Cannot find module '${file}' in ${root}`)
  const handler = ((await import(pathToFileURL(path).href)) as Record<string, unknown>)[exportName]
  if (typeof handler !== 'function') throw new Error(`${env._HANDLER} is undefined or not exported`)
  return handler as Handler
}

let requestId: string | undefined

// As in Lambda: an error nobody caught ends the environment, and the invocation it happened in fails.
for (const [event, errorType] of [
  ['uncaughtException', 'Runtime.UncaughtException'],
  ['unhandledRejection', 'Runtime.UnhandledPromiseRejection'],
] as const) {
  process.on(event, (error: unknown) => {
    console.error(error)
    const path = requestId === undefined ? 'init/error' : `invocation/${requestId}/error`
    void call('POST', path, describe(error, errorType)).finally(() => process.exit(129))
  })
}

const handler = await loadHandler().catch(async (error: unknown) => {
  console.error(error)
  await call('POST', 'init/error', describe(error, 'Runtime.ImportModuleError'))
  process.exit(1)
})

for (;;) {
  const { headers, body } = await call('GET', 'invocation/next')
  const id = String(headers['lambda-runtime-aws-request-id'])
  const deadlineMs = Number(headers['lambda-runtime-deadline-ms'])
  requestId = id
  env._X_AMZN_TRACE_ID = String(headers['lambda-runtime-trace-id'])
  const context = {
    callbackWaitsForEmptyEventLoop: true,
    functionName: env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: env.AWS_LAMBDA_FUNCTION_VERSION,
    invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
    memoryLimitInMB: env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: env.AWS_LAMBDA_LOG_STREAM_NAME,
    awsRequestId: id,
    getRemainingTimeInMillis: () => deadlineMs - Date.now(),
  }
  let answer: { path: string; body: string }
  try {
    const result = await handler(JSON.parse(body), context)
    answer = { path: `invocation/${id}/response`, body: JSON.stringify(result) ?? 'null' }
  } catch (error) {
    console.error(error)
    answer = { path: `invocation/${id}/error`, body: describe(error, typeof error) }
  }
  await call('POST', answer.path, answer.body)
}
