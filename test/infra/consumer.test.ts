import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')

/** Somebody's CDK app that has installed `aws-cdk-lib` and `constructs`, and no other peer. */
const app = mkdtempSync(join(tmpdir(), 'cdk-consumer-'))
afterAll(() => rmSync(app, { recursive: true }))
const installed = (name: string) => join(app, 'node_modules', name)

const STACK = `
import { App, Duration, Stack } from 'aws-cdk-lib'
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { Code, Function, Runtime } from 'aws-cdk-lib/aws-lambda'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { IdempotencyDashboard, IdempotencyTable, IdempotentQueue, metricOperations, type WatchedEvent } from 'lambda-once/cdk'

const stack = new Stack(new App(), 'Consumer')
const key = (name: string) => ({ name, type: AttributeType.STRING })
const own = new TableV2(stack, 'Own', { partitionKey: key('pk'), sortKey: key('sk'), timeToLiveAttribute: 'expiresAt' })
const table = new IdempotencyTable(stack, 'Table', { table: own })
const worker = new Function(stack, 'Worker', {
  runtime: Runtime.NODEJS_24_X,
  handler: 'index.handler',
  code: Code.fromInline('exports.handler = async () => {}'),
  timeout: Duration.seconds(10),
  environment: table.environment,
})
table.grantIdempotency(worker)
const dead = new Queue(stack, 'Dead', { retentionPeriod: Duration.days(14) })
const queue = new Queue(stack, 'Orders', {
  visibilityTimeout: Duration.seconds(60),
  deadLetterQueue: { queue: dead, maxReceiveCount: 5 },
})
const fed = new IdempotentQueue(stack, 'Fed', { consumer: worker, queue, table })
new IdempotencyDashboard(stack, 'Watch', { table, namespaces: ['orders'], queues: [fed], functions: [worker] })
const event: WatchedEvent = 'mismatched'
metricOperations('orders', event, { period: Duration.minutes(1) })
fed.metricBacklog({ statistic: 'p90', label: 'Backlog' })
console.log(stack.resolve(table.retentionSeconds))
`

test('the published constructs compile, and synthesize, where nothing but CDK is installed', {
  timeout: 240_000,
}, () => {
  mkdirSync(installed('lambda-once'), { recursive: true })
  copyFileSync(join(ROOT, 'package.json'), join(installed('lambda-once'), 'package.json'))
  run(ROOT, TSC, '-p', 'infra/constructs', '--outDir', join(installed('lambda-once'), 'dist', 'cdk'))
  for (const peer of ['aws-cdk-lib', 'constructs', '@types/node', 'undici-types']) {
    mkdirSync(dirname(installed(peer)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', peer), installed(peer))
  }
  writeFileSync(join(app, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(app, 'stack.ts'), STACK)
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    strict: true,
    noUncheckedIndexedAccess: true,
    // The declarations of the constructs are looked at, too.
    skipLibCheck: false,
    types: ['node'],
  }
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['stack.ts'] }))
  const faults = run(app, TSC, '-p', '.')
    .split('\n')
    .filter((line) => /^(node_modules\/lambda-once|stack\.ts)/.test(line))
  expect(faults).toEqual([])
  expect(run(app, 'stack.js')).toBe(`${18 * 86_400 + 3_600}\n`)
})

function run(cwd: string, ...args: string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout
}
