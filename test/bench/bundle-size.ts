import { build } from 'esbuild'

/** What a function that uses DynamoDB and Middy has in its bundle anyway. */
const BASE = `
  import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
  import { DynamoDBDocumentClient, BatchGetCommand, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
  import { unmarshall } from '@aws-sdk/util-dynamodb'
  import middy from '@middy/core'
  export const base = [DynamoDBClient, DynamoDBDocumentClient, BatchGetCommand, GetCommand, PutCommand, UpdateCommand, unmarshall, middy]
`

const ENTRIES = {
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

/** How many minified bytes each entry adds to a bundle that already has the SDK and Middy. */
export async function bundleSizes(root: string): Promise<{ readonly entry: string; readonly bytes: number }[]> {
  const base = await minifiedBytes(BASE, root)
  const sizes: { entry: string; bytes: number }[] = []
  for (const [entry, code] of Object.entries(ENTRIES)) {
    sizes.push({ entry, bytes: (await minifiedBytes(BASE + code, root)) - base })
  }
  return sizes
}

async function minifiedBytes(contents: string, root: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    mainFields: ['module', 'main'],
  })
  return outputFiles[0]?.contents.length ?? 0
}
