import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../../infra/package/entries.ts'

interface Packed {
  readonly files: readonly { readonly path: string }[]
  readonly unpackedSize: number
}

const [packed] = JSON.parse(
  execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT, encoding: 'utf8' }),
) as readonly [Packed]
const paths = packed.files.map(({ path }) => path)

/** All that a user needs. Source maps would point at sources that are not there. */
const WANTED: readonly RegExp[] = [
  /^(?:package\.json|README\.md|CHANGELOG\.md|LICENSE)$/,
  /^dist\/[\w/-]+\.(?:js|d\.ts)$/,
  /^dist\/cli\/LICENSES\.txt$/,
  /^dist\/cli\/page\/[\w/-]+\.(?:js|css|html)$/,
]
const UNWANTED: readonly RegExp[] = [
  /\.(?:test|check|bench|spec)\./,
  /(?:^|\/)(?:test|functions|local|bin|stacks|node_modules)\//,
  // The CLI is one bundle, and the checks are a part of the constructs.
  /^dist\/(?:cli\/.*\.d\.ts|cli\/(?!main\.js|page\/).*\.js|checks\/)/,
]

describe('the tarball', () => {
  test('holds what users need, and nothing else', () => {
    expect(paths.filter((path) => !WANTED.some((pattern) => pattern.test(path)))).toEqual([])
    expect(paths.filter((path) => UNWANTED.some((pattern) => pattern.test(path)))).toEqual([])
  })

  test('holds every file that package.json names', () => {
    const { exports, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      exports: Record<string, Record<string, string>>
      bin: Record<string, string>
    }
    const named = [...Object.values(exports).flatMap((target) => Object.values(target)), ...Object.values(bin)]
    expect(named.map((path) => path.slice(2)).filter((path) => !paths.includes(path))).toEqual([])
    expect(paths).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'LICENSE']))
  })

  test('holds declarations for every module of the library, made from a source that is there', () => {
    const modules = paths.filter((path) => path.endsWith('.js') && !path.startsWith('dist/cli/'))
    expect(modules.filter((path) => !paths.includes(path.replace(/\.js$/, '.d.ts')))).toEqual([])
    const source = (path: string) => path.replace(/^dist\/(?:cdk\/)?/, '').replace(/\.js$/, '.ts')
    const stale = modules.filter((path) => {
      const root = path.startsWith('dist/cdk/') ? '' : 'lib/'
      return !existsSync(join(ROOT, root + source(path)))
    })
    expect(stale).toEqual([])
  })

  test('names no path of the machine it was built on, and no registry', () => {
    const text = paths
      .filter((path) => /\.(?:js|ts|json|md|html)$/.test(path))
      .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
    const leaks = text.filter(
      ({ text: content }) => content.includes(ROOT.slice(0, -1)) || /\bresolved":/.test(content),
    )
    expect(leaks.map(({ path }) => path)).toEqual([])
  })
})

test.each([
  ['publint', 'node_modules/publint/src/cli.js', ['--strict']],
  ['attw', 'node_modules/@arethetypeswrong/cli/dist/index.js', ['--pack', '.', '--profile', 'esm-only']],
])('%s finds nothing', (_name, script, args) => {
  const run = () => execFileSync(process.execPath, [join(ROOT, script), ...args], { cwd: ROOT, encoding: 'utf8' })
  expect(run).not.toThrow()
})
