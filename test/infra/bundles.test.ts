import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { onlyResource, resourcesOf, synthesize } from './templates.ts'

/** What a cold start has to read: the SDK's clients are most of it. */
const MOST_BYTES = 600_000

const out = mkdtempSync(join(tmpdir(), 'cdk-bundles-'))
afterAll(() => rmSync(out, { recursive: true }))
const { payments } = synthesize(out)

describe.each(resourcesOf(payments, 'AWS::Lambda::Function').map(([id]) => id))('the bundle of %s', (id) => {
  const [, { Properties }] = onlyResource(payments, 'AWS::Lambda::Function', id)
  const bundle = join(out, `asset.${Properties.Code.S3Key.replace('.zip', '')}`, 'index.mjs')

  test(`is smaller than ${MOST_BYTES / 1_000} KB`, () => {
    expect(statSync(bundle).size).toBeLessThan(MOST_BYTES)
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
