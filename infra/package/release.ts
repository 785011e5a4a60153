// `npm run release`: everything that has to be true before a version is published. It publishes only when it is told to
// twice: by `-- --publish`, and by running where provenance can be proven.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './entries.ts'
import { releaseFaults } from './release-faults.ts'

const FOLDER = join(ROOT, '.local/release')

process.exitCode = release(process.argv.slice(2))

function release(args: readonly string[]): number {
  const isMeant = args.includes('--publish')
  const { name, version, repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    name: string
    version: string
    repository?: unknown
  }
  const faults = releaseFaults({
    version,
    changelog: readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'),
    changes: output('git', 'status', '--porcelain'),
    tags: output('git', 'tag', '--points-at', 'HEAD').split('\n'),
    hasRepository: repository !== undefined,
    isMeant,
    canProve: process.env.ACTIONS_ID_TOKEN_REQUEST_URL !== undefined,
    unknownArguments: args.filter((arg) => arg !== '--publish'),
  })
  if (faults.length > 0) {
    console.error(`${name} ${version} cannot be released:\n${faults.map((fault) => `- ${fault}`).join('\n')}`)
    return 1
  }
  run('npm', 'run', 'check')
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  run('npm', 'pack', '--pack-destination', FOLDER)
  const tarball = join(FOLDER, `${name}-${version}.tgz`)
  if (isMeant) run('npm', 'publish', tarball, '--provenance', '--access', 'public')
  else console.log(`Ready, and not published: ${tarball}`)
  return 0
}

function output(command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { cwd: ROOT, encoding: 'utf8' }).trim()
}

/** @throws Error when it fails */
function run(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { cwd: ROOT, stdio: 'inherit' })
}
