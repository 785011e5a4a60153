import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { packageEntries, ROOT } from '../../infra/package/entries.ts'

const entries = packageEntries()

/** What each entry loads from elsewhere when it is imported, and what only when it is used. */
const PACKAGES: Readonly<
  Record<string, { readonly atOnce: readonly string[]; readonly whenUsed?: readonly string[] }>
> = {
  'lambda-once': { atOnce: ['canonicalize', 'devalue'] },
  'lambda-once/http': { atOnce: ['canonicalize', 'devalue'] },
  'lambda-once/batch': { atOnce: ['@aws-sdk/util-dynamodb', 'canonicalize', 'devalue', 'p-limit'] },
  'lambda-once/event': { atOnce: ['canonicalize', 'devalue'] },
  'lambda-once/keys': { atOnce: [] },
  'lambda-once/dynamodb': {
    atOnce: ['@aws-sdk/client-dynamodb', '@aws-sdk/util-dynamodb'],
    whenUsed: ['p-limit'],
  },
  'lambda-once/memory': { atOnce: [] },
  'lambda-once/store-contract': { atOnce: [] },
  'lambda-once/retry': { atOnce: [] },
  'lambda-once/order': { atOnce: ['@aws-sdk/lib-dynamodb', '@aws-sdk/util-dynamodb'] },
  'lambda-once/cdk': { atOnce: ['aws-cdk-lib', 'constructs'] },
  'lambda-once/outbox': {
    atOnce: ['@aws-sdk/util-dynamodb', 'devalue', 'p-limit'],
    whenUsed: ['@aws-sdk/client-eventbridge', '@aws-sdk/client-lambda', '@aws-sdk/client-sns', '@aws-sdk/client-sqs'],
  },
  'lambda-once/reconciler': { atOnce: ['canonicalize', 'devalue', 'p-limit'] },
  'lambda-once/testing': { atOnce: ['@aws-sdk/util-dynamodb', 'canonicalize', 'devalue'] },
  'lambda-once/observability': { atOnce: [] },
  'lambda-once/observability/opentelemetry': { atOnce: ['@opentelemetry/api'] },
  'lambda-once/powertools': {
    atOnce: ['@aws-sdk/client-dynamodb', '@aws-sdk/util-dynamodb'],
  },
  'lambda-once/cache': { atOnce: ['lru-cache'] },
}

async function bundled(code: string) {
  const { metafile } = await build({
    stdin: { contents: code, resolveDir: ROOT },
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    alias: Object.fromEntries(entries.map(({ specifier, code: file }) => [specifier, file])),
    absWorkingDir: ROOT,
  })
  const [output] = Object.values(metafile.outputs)
  const modules = Object.entries(output?.inputs ?? {}).filter(([path, { bytesInOutput }]) => {
    return path.startsWith('dist/') && bytesInOutput > 0
  })
  return { metafile, bytes: output?.bytes ?? 0, modules: modules.map(([path]) => path) }
}

const packageOf = (path: string) => path.split('/', path.startsWith('@') ? 2 : 1).join('/')

describe('what an entry loads', () => {
  test('is written here for every entry', () => {
    expect(Object.keys(PACKAGES).sort()).toEqual(entries.map(({ specifier }) => specifier).sort())
  })

  test.each(entries)('by $specifier is what it needs', async ({ specifier }) => {
    const { metafile } = await bundled(`export * from '${specifier}'`)
    const imports = Object.values(metafile.inputs).flatMap((input) => input.imports)
    const external = imports.filter(({ external: isOutside, path }) => isOutside && !path.startsWith('node:'))
    const packages = (kind: string) =>
      [...new Set(external.filter((found) => found.kind === kind).map(({ path }) => packageOf(path)))].sort()
    const { atOnce = [], whenUsed = [] } = PACKAGES[specifier] ?? {}
    expect({ atOnce: packages('import-statement'), whenUsed: packages('dynamic-import') }).toEqual({ atOnce, whenUsed })
  })

  test('is in package.json, as a dependency or a peer', () => {
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
      'dependencies' | 'peerDependencies',
      Record<string, string>
    >
    const declared = [...Object.keys(dependencies), ...Object.keys(peerDependencies)]
    const loaded = Object.values(PACKAGES).flatMap(({ atOnce, whenUsed = [] }) => [...atOnce, ...whenUsed])
    expect(loaded.filter((name) => !declared.includes(name))).toEqual([])
  })
})

describe('a bundler that takes one name of an entry', () => {
  test.each([
    ['lambda-once', 'RetryLater', /\/(?:engine|idempotency|outcome|steps)\//],
    ['lambda-once', 'isLambdaOnceError', /\/(?:engine|idempotency|outcome|steps)\//],
    ['lambda-once/http', 'REPLAYED_HEADER', /admission|request|problems/],
    ['lambda-once/batch', 'KEY_ATTRIBUTE', /\/(?:engine|batch\/run)/],
    ['lambda-once/batch', 'kinesis', /sources\/(?:dynamodb|dynamo-stream|kafka)|\/engine\//],
    ['lambda-once/event', 's3', /\/event\/(?:handler|answer)/],
    ['lambda-once/keys', 'messageId', /webhook|body/],
    ['lambda-once/retry', 'retryBudget', /retry\/(?:fetch|retry)\.js/],
    ['lambda-once/order', 'TOMBSTONE_ATTRIBUTE', /order\/apply/],
    ['lambda-once/cdk', 'METRIC_NAMESPACE', /queue|table|api/],
    ['lambda-once/outbox', 'MESSAGE_KEY_ATTRIBUTE', /relay\.js|stream-event/],
    ['lambda-once/testing', 'lambdaContext', /explorer|\/engine\//],
    ['lambda-once/observability', 'observers', /emf|powertools/],
  ])('of %s, %s, leaves the rest out', async (specifier, name, others) => {
    const one = await bundled(`export { ${name} } from '${specifier}'`)
    const all = await bundled(`export * from '${specifier}'`)
    expect(one.modules).not.toEqual([])
    expect(one.modules.filter((path) => others.test(path))).toEqual([])
    // The pattern means something: what it names is a part of the entry.
    expect(all.modules.some((path) => others.test(path))).toBe(true)
    expect(one.bytes).toBeLessThan(all.bytes / 2)
  })
})

/** Runs in a process of its own: imports an entry and says what that has changed. */
const WATCH = `
const look = () => ({
  globals: Reflect.ownKeys(globalThis).map(String).sort(),
  env: { ...process.env },
  listeners: process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
  // Pipes and files are the test's own, and the loader's.
  handles: process.getActiveResourcesInfo().filter((name) => !/^(?:Pipe|FS|TTY)/.test(name)),
})
await Promise.all(JSON.parse(process.argv[2]).map((name) => import(name)))
const before = look()
await import(process.argv[1])
process.stdout.write(JSON.stringify([before, look()]))
`

test.each(entries)(
  'importing $specifier changes nothing in the process: sideEffects is true to fact',
  ({ specifier, code }) => {
    // What Node's own and other people's packages do when they are loaded is not ours to answer for.
    const others = JSON.stringify(['node:http', ...(PACKAGES[specifier]?.atOnce ?? [])])
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', WATCH, code, others], {
      cwd: ROOT,
      encoding: 'utf8',
    })
    const [before, after] = JSON.parse(output) as readonly [unknown, unknown]
    expect(after).toEqual(before)
  },
)
