import { bundleSize } from './cold/bundle.ts'
import { BASE } from './cold/functions.ts'

/** Exactly the public entry points that a function may bundle, each with all it exports. */
const ENTRY_POINTS = {
  '.': './lib/index.ts',
  './http': './lib/http/index.ts',
  './batch': './lib/batch/index.ts',
  './event': './lib/event/index.ts',
  './keys': './lib/keys/index.ts',
  './dynamodb': './lib/dynamodb/index.ts',
  './cache': './lib/cache/index.ts',
  './memory': './lib/memory/index.ts',
  './retry': './lib/retry/index.ts',
  './order': './lib/order/index.ts',
  './outbox': './lib/outbox/index.ts',
  './reconciler': './lib/reconciler/index.ts',
  './testing': './lib/testing/index.ts',
  './observability': './lib/observability/index.ts',
  './observability/opentelemetry': './lib/observability/opentelemetry/index.ts',
  './powertools': './lib/powertools/index.ts',
}

const TOGETHER = {
  'HTTP middleware': `
    export { idempotentHttp } from './lib/http/index.ts'`,
  'batch middleware': `
    export { eachRecord, idempotentBatch } from './lib/batch/index.ts'`,
  'HTTP middleware, engine and DynamoDB store': `
    export { createIdempotency } from './lib/index.ts'
    export { dynamoStore } from './lib/dynamodb/index.ts'
    export { idempotentHttp } from './lib/http/index.ts'`,
  'batch middleware, engine and DynamoDB store': `
    export { createIdempotency } from './lib/index.ts'
    export { dynamoStore } from './lib/dynamodb/index.ts'
    export { eachRecord, idempotentBatch } from './lib/batch/index.ts'`,
  'engine and DynamoDB store': `
    export { createIdempotency } from './lib/index.ts'
    export { dynamoStore } from './lib/dynamodb/index.ts'`,
}

/** The clients of the relay's targets, each loaded when it is needed first: what they weigh is the SDK's. */
const TARGETS = `
  export const targets = [
    () => import('@aws-sdk/client-sqs'),
    () => import('@aws-sdk/client-sns'),
    () => import('@aws-sdk/client-eventbridge'),
    () => import('@aws-sdk/client-lambda'),
  ]
`
const SENDING: readonly string[] = ['./outbox', './reconciler']

/** What an entry adds to a bundle that already has the SDK and Middy, minified. */
export interface EntrySize {
  readonly entry: string
  /** To a bundle of one file, in bytes. */
  readonly bytes: number
  /** To what is loaded before the first invocation, where the bundle is split at `import()`, in bytes. */
  readonly first: number
}

/** What each entry point adds by itself, and those that are used together. */
export async function bundleSizes(): Promise<EntrySize[]> {
  const alone = Object.entries(ENTRY_POINTS).map(([entry, file]) => [entry, `export * from '${file}'`] as const)
  const base = await bundleSize(BASE)
  const sending = await bundleSize(BASE + TARGETS)
  const sizes: EntrySize[] = []
  for (const [entry, code] of [...alone, ...Object.entries(TOGETHER)]) {
    const isSending = SENDING.includes(entry)
    const { whole, first } = await bundleSize(`${BASE}${isSending ? TARGETS : ''}\n${code}`)
    const without = isSending ? sending : base
    sizes.push({ entry, bytes: whole - without.whole, first: first - without.first })
  }
  return sizes
}
