import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from '../../infra/package/entries.ts'

/** A folder that knows nothing of the checkout, as a user's is. */
const folder = mkdtempSync(join(tmpdir(), 'lambda-once-consumer-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Compilers of every supported major version, under names that do not stand in each other's way. */
const COMPILERS = { 'typescript-5.9': '5.9.3', 'typescript-6': '6.0.3', 'typescript-7': '7.0.2' }
/** Installed as a user does; the other peers are large, and taken from the checkout. */
const INSTALLED = ['@aws-sdk/client-dynamodb', '@aws-sdk/lib-dynamodb', '@middy/core', '@types/node']
const BORROWED = ['@opentelemetry/api', 'aws-cdk-lib', 'constructs']

const npm = (cwd: string, ...args: string[]) => execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: 'pipe' })
const node = (...args: string[]) =>
  execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })

beforeAll(() => {
  const [{ filename }] = JSON.parse(npm(ROOT, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder)) as [
    { filename: string },
  ]
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  const installed = INSTALLED.map((name) => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')) as {
      version: string
    }
    return `${name}@${version}`
  })
  const compilers = Object.entries(COMPILERS).map(([name, version]) => `${name}@npm:typescript@${version}`)
  // Cached packages are taken as they are, so that only a first run needs the registry.
  npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', `./${filename}`, ...installed, ...compilers)
  for (const name of BORROWED) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  }
  cpSync(join(ROOT, 'test/package/consumer'), folder, { recursive: true })
})

/** A user's settings; our own declarations are looked at too, and with them everybody's. */
const STRICT = {
  target: 'es2023',
  lib: ['es2023'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
}
const RESOLUTIONS = { nodenext: { module: 'nodenext' }, bundler: { module: 'preserve', moduleResolution: 'bundler' } }

describe('types', () => {
  const ways = Object.keys(COMPILERS).flatMap((compiler) =>
    Object.entries(RESOLUTIONS).map(([name, resolution]) => ({ compiler, name, resolution })),
  )

  test.each(ways)(
    'compile with $compiler and $name resolution, and the code runs',
    ({ compiler, name, resolution }) => {
      const outDir = `out/${compiler}-${name}`
      expect(diagnosticsOf(compiler, 'typescript.ts', { ...STRICT, ...resolution, outDir })).toBe('')
      // What comes before it are the metrics.
      const said = node(`${outDir}/typescript.js`).trim().split('\n').at(-1) ?? ''
      expect(JSON.parse(said)).toEqual({
        charges: 1,
        replayed: [false, true],
        same: true,
        mismatch: true,
        isWhole: true,
      })
    },
  )

  test.each(Object.keys(COMPILERS))('of the constructs compile with %s, and a stack is made', (compiler) => {
    // The CDK's own declarations do not bear the stricter settings.
    const asTheCdkIs = { exactOptionalPropertyTypes: false, skipLibCheck: true }
    const options = { ...STRICT, ...asTheCdkIs, ...RESOLUTIONS.nodenext, outDir: `out/${compiler}-cdk` }
    expect(diagnosticsOf(compiler, 'stack.ts', options)).toBe('')
    expect(JSON.parse(node(`out/${compiler}-cdk/stack.js`))).toEqual({ path: 'Data/Operations' })
  })
})

/** What the compiler finds wrong. */
function diagnosticsOf(compiler: string, file: string, compilerOptions: { readonly outDir: string }): string {
  const project = `tsconfig.${compilerOptions.outDir.replaceAll('/', '-')}.json`
  writeFileSync(join(folder, project), JSON.stringify({ compilerOptions, files: [file] }))
  try {
    return node(join('node_modules', compiler, 'bin/tsc'), '-p', project)
  } catch (error) {
    const output = String(Reflect.get(Object(error), 'stdout'))
    // Other people's declarations have faults of their own, such as optional packages that are not there.
    const isTheirs = (line: string) => /^(?:\s|.*node_modules\/(?!lambda-once\/))/.test(line)
    return output
      .split('\n')
      .filter((line) => !isTheirs(line))
      .join('\n')
  }
}

describe('code', () => {
  test('runs as plain JavaScript, and fails closed without a table', () => {
    expect(JSON.parse(node('plain.mjs'))).toEqual({
      sent: 1,
      answers: ['a@example.com 1', 'a@example.com 1'],
      refused: 'STORE_UNAVAILABLE',
    })
  })

  test('runs from CommonJS', () => {
    expect(node('common.cjs').trim()).toBe('done')
  })

  test('runs as a command', () => {
    const help = npm(folder, 'exec', '--no', '--', 'lambda-once', '--help')
    expect(help).toContain('doctor')
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
    expect(npm(folder, 'exec', '--no', '--', 'lambda-once', '--version').trim()).toBe(version)
  })
})
