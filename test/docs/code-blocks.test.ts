import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

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
  return [...text.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = ''], index) => {
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

afterAll(() => rmSync(WORKSPACE, { recursive: true, force: true }))

test('every TypeScript block of the README and the guides compiles', () => {
  const blocks = documents.flatMap(blocksOf)
  expect(blocks.length).toBeGreaterThan(4)
  mkdirSync(WORKSPACE, { recursive: true })
  for (const { file, code } of blocks) writeFileSync(join(WORKSPACE, file), `${code}\nexport {}\n`)
  const entry = (path: string) => [
    path === '/cdk' ? join(ROOT, 'infra/constructs/index.ts') : join(ROOT, 'lib', path, 'index.ts'),
  ]
  const names = Object.keys(
    (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: object }).exports,
  )
  const paths = Object.fromEntries(names.map((name) => [name.replace('.', 'lambda-once'), entry(name.slice(1))]))
  writeFileSync(
    join(WORKSPACE, 'tsconfig.json'),
    JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions: { paths }, include: ['*.ts'] }),
  )
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc')
  const run = () => {
    try {
      execFileSync(tsc, ['-p', WORKSPACE], { encoding: 'utf8' })
      return ''
    } catch (error) {
      return String(Reflect.get(Object(error), 'stdout'))
    }
  }
  expect(run()).toBe('')
})
