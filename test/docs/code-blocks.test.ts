import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Inside the checkout, so that the blocks find its packages. */
const WORKSPACE = join(ROOT, '.local', `doc-blocks-${process.pid}`)

/** What the short blocks of the README leave out because a reader can guess it. */
const README_CONTEXT = `
import type middyType from '@middy/core'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import type { Idempotency } from 'lambda-once'
import { eachRecord, idempotentBatch, type StandardSchema } from 'lambda-once/batch'
interface Order { orderId: string }
declare const OrderSchema: StandardSchema<Order>
declare function createOrder(id: string, body: string | undefined): Promise<{ id: string }>
declare function charge(order: Order): Promise<void>
`
const QUEUE_CONTEXT = `declare const middy: typeof middyType
declare const idempotency: Idempotency
`

interface Block {
  readonly file: string
  readonly code: string
}

function blocksOf(file: string): Block[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return [...text.matchAll(/^```ts\n(.*?)^```(?=(\n+The test fails)?)/gms)].map(([, written = '', fails], index) => {
    // A test that is there to fail has to.
    const code = fails === undefined ? written : written.replace(/^test\(/m, 'test.fails(')
    const isWhole = code.includes('import ')
    const context = file === 'README.md' ? README_CONTEXT + (isWhole ? '' : QUEUE_CONTEXT) : ''
    return { file: `${file.replaceAll(/[/.]/g, '-')}-${index}.ts`, code: context + code }
  })
}

const documents = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

const blocks = documents.flatMap(blocksOf)
const entryPoints = Object.keys(
  (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: object }).exports,
).map((name) => ({
  name: name.replace('.', 'lambda-once'),
  file: name === './cdk' ? join(ROOT, 'infra/constructs/index.ts') : join(ROOT, 'lib', name, 'index.ts'),
}))

beforeAll(() => {
  mkdirSync(WORKSPACE, { recursive: true })
  for (const { file, code } of blocks) writeFileSync(join(WORKSPACE, file), `${code}\nexport {}\n`)
})
afterAll(() => rmSync(WORKSPACE, { recursive: true, force: true }))

test('every TypeScript block of the README and the guides compiles', () => {
  expect(blocks.length).toBeGreaterThan(35)
  const paths = Object.fromEntries(entryPoints.map(({ name, file }) => [name, [file]]))
  writeFileSync(
    join(WORKSPACE, 'tsconfig.json'),
    JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions: { paths }, include: ['*.ts'] }),
  )
  expect(complaintsOf(join(ROOT, 'node_modules/.bin/tsc'), '-p', WORKSPACE)).toBe('')
})

/** What a block only declares can be called, awaited and asked for anything, and does nothing. */
const STAND_INS = `
import { createIdempotency } from 'lambda-once'
import { memoryStore } from 'lambda-once/memory'
const idempotency = createIdempotency({ store: memoryStore(), namespace: 'docs', reconcilerShards: 1 })
const verifySignature = () => ({ before: () => {} })
const nothing = new Proxy(function () {}, {
  get: (_target, name) => (name === 'then' || typeof name === 'symbol' ? undefined : nothing),
  apply: () => nothing,
  construct: () => nothing,
})
`

/** What has to be more than nothing, by the name under which blocks declare it. */
const NAMED_STAND_INS = ['idempotency', 'verifySignature']

/** A test that runs the block, or the block's own tests. */
function runnable({ file, code }: Block): string {
  const declared = [...code.matchAll(/^declare (?:const|function|class) (\w+)/gm)].map(([, name = '']) => name)
  const standIns = declared
    .filter((name) => name !== 'middy')
    .map((name) => `globalThis.${name} = ${NAMED_STAND_INS.includes(name) ? name : 'nothing'}`)
  if (declared.includes('middy')) standIns.push(`globalThis.middy = (await import('@middy/core')).default`)
  const run = `await import('./${file}')`
  const tests = code.includes("from 'vitest'")
    ? run
    : `import { test } from 'vitest'\ntest('runs', async () => { ${run} })`
  return [STAND_INS, ...standIns, "globalThis.fetch = async () => new Response('{}')", tests].join('\n')
}

test('every block runs: its options are accepted, and the tests in it pass', () => {
  for (const block of blocks) writeFileSync(join(WORKSPACE, `${block.file.slice(0, -3)}.test.js`), runnable(block))
  mkdirSync(join(WORKSPACE, 'functions'))
  for (const name of ['orders', 'worker']) {
    writeFileSync(join(WORKSPACE, `functions/${name}.ts`), 'export const handler = async () => {}')
  }
  const alias = entryPoints.map(
    ({ name, file }) => `{ find: new RegExp('^${name}$'), replacement: ${JSON.stringify(file)} }`,
  )
  const env = "{ AWS_REGION: 'eu-central-1', IDEMPOTENCY_TABLE: 'operations' }"
  const settings = `test: { include: ['*.test.js'], maxWorkers: 1, isolate: false, env: ${env} }`
  writeFileSync(
    join(WORKSPACE, 'vitest.config.js'),
    `export default { root: ${JSON.stringify(WORKSPACE)}, resolve: { alias: [${alias}] }, ${settings} }\n`,
  )
  expect(complaintsOf(join(ROOT, 'node_modules/.bin/vitest'), 'run', '--root', WORKSPACE)).toBe('')
})

/** What a command prints when it fails; nothing when it does not. */
function complaintsOf(command: string, ...args: string[]): string {
  try {
    execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe', cwd: WORKSPACE })
    return ''
  } catch (error) {
    const { stdout, stderr } = Object(error) as { stdout?: string; stderr?: string }
    return `${stdout}${stderr}`
  }
}
