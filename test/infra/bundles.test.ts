import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { functionSizes, MOST_BYTES } from '../../infra/package/function-sizes.ts'
import { onlyResource, resourcesOf, synthesize } from './templates.ts'

const out = mkdtempSync(join(tmpdir(), 'cdk-bundles-'))
afterAll(() => rmSync(out, { recursive: true }))
const { payments } = synthesize(out)
const sizes = functionSizes(out)
const LAMBDA_CLIENT = '@aws-sdk/client-lambda'

/** What a sender would load for targets that nothing here has, and the client that delivers an order again, once a crash. */
const RARELY_LOADED = ['@aws-sdk/client-eventbridge', LAMBDA_CLIENT, '@aws-sdk/client-sns']

test('the sizes of all six functions are printed, by one script', () => {
  expect(sizes.map(({ name }) => name).sort()).toEqual(
    ['LedgerWorker', 'OrdersApi', 'OutboxRelay', 'PaymentWebhook', 'PaymentsWorker', 'Reconciler'].map(
      (id) => `Payments/${id}`,
    ),
  )
})

test('what is taken from the runtime is what is rarely or never loaded; the rest of the SDK is in the bundle', () => {
  const external = sizes.filter((size) => size.external.length > 0).map((size) => [size.name, size.external])
  expect(Object.fromEntries(external)).toEqual({
    'Payments/OutboxRelay': RARELY_LOADED,
    'Payments/Reconciler': RARELY_LOADED,
  })
})

describe.each(resourcesOf(payments, 'AWS::Lambda::Function').map(([id]) => id))('the bundle of %s', (id) => {
  const [, { Properties }] = onlyResource(payments, 'AWS::Lambda::Function', id)
  const bundle = join(out, `asset.${Properties.Code.S3Key.replace('.zip', '')}`, 'index.mjs')

  test(`is smaller than ${MOST_BYTES / 1_000} KB`, () => {
    const [size] = sizes.filter(({ name }) => name === `Payments/${/^[A-Za-z]+?(?=[0-9A-F]{8}$)/.exec(id)?.[0]}`)
    expect(size?.bytes).toBe(readFileSync(bundle).length)
    expect(size?.bytes).toBeLessThan(MOST_BYTES)
  })

  test('is an ES module in few lines, with a require for CommonJS dependencies', () => {
    const code = readFileSync(bundle, 'utf8')
    expect(code).toMatch(/^import \{ createRequire \} from 'node:module'; const require = createRequire/)
    expect(code).toMatch(/\bexport\s*\{[^}]*\bas handler\b[^}]*\}/)
    // Minified: what is left of lines is in template strings.
    expect(code.length / code.split('\n').length).toBeGreaterThan(1_000)
  })

  test('has a source map, which errors are shown by', () => {
    const code = readFileSync(bundle, 'utf8')
    expect(code).toMatch(/\/\/# sourceMappingURL=index\.mjs\.map\s*$/)
    const { sources, sourcesContent } = JSON.parse(readFileSync(`${bundle}.map`, 'utf8'))
    expect(sources.join()).toContain('/lib/record/record.ts')
    // Names and places are enough; the code itself would be as large again.
    expect(sourcesContent ?? []).toEqual([])
    expect(Properties.Environment.Variables.NODE_OPTIONS).toBe('--enable-source-maps')
  })

  test('needs no module but those of Node', () => {
    const imported = [...readFileSync(bundle, 'utf8').matchAll(/\bfrom\s*"([^"]+)"/g)].map(([, name = '']) => name)
    expect(imported).not.toEqual([])
    const { stdout } = node('console.log(JSON.stringify(process.getBuiltinModule("module").builtinModules))')
    const builtIn: string[] = JSON.parse(stdout)
    expect(imported.filter((name) => !builtIn.includes(name.replace(/^node:/, '')))).toEqual([])
  })

  test('exports the handler that the template names', () => {
    const { Handler, Environment } = Properties
    expect(Handler).toBe('index.handler')
    const variables = Object.keys(Environment.Variables).map((name) => [
      name,
      name.endsWith('_URL') ? 'https://service.test/1' : '1',
    ])
    const { stdout, stderr } = node(
      `import(${JSON.stringify(bundle)}).then(({ handler }) => console.log(typeof handler))`,
      {
        ...Object.fromEntries(variables),
        NODE_OPTIONS: Environment.Variables.NODE_OPTIONS,
        // Lambda's own.
        AWS_LAMBDA_FUNCTION_NAME: id,
      },
    )
    expect(stderr).toBe('')
    expect(stdout).toBe('function\n')
  })

  test('without its variables does not start, and says which one is missing', () => {
    // Caught here, because Node quotes the line of an error that nobody catches, and a bundle has it all in one.
    const { stdout } = node(`import(${JSON.stringify(bundle)}).catch(({ message }) => console.log(message))`)
    expect(stdout).toMatch(/^The environment variable \w+ is not set\.$/m)
  })
})

function node(script: string, env: Record<string, string> = {}) {
  return spawnSync(process.execPath, ['-e', script], { encoding: 'utf8', env })
}
