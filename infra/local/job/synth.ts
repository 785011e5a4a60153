import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

// What the synthesized template and the bundles in it are made of.
const SOURCES = ['lib', 'functions', 'infra', 'cdk.json', 'package-lock.json', 'tsconfig.json']
// This runner is not in the template.
const NOT_SOURCES = [join('infra', 'local')]

/**
 * Runs `cdk synth` unless its output is newer than everything it is made of.
 *
 * @returns the directory of the cloud assembly and whether it was made just now.
 * @throws Error with the output of cdk when it fails.
 */
export function ensureAssembly(root: string): { readonly directory: string; readonly synthesized: boolean } {
  const directory = join(root, 'cdk.out')
  const manifest = join(directory, 'manifest.json')
  const newestSourceMs = Math.max(...SOURCES.map((source) => newestMs(root, source)))
  if (existsSync(manifest) && statSync(manifest).mtimeMs > newestSourceMs) return { directory, synthesized: false }
  const cdk = join(dirname(createRequire(import.meta.url).resolve('aws-cdk/package.json')), 'bin', 'cdk')
  const { status, stdout, stderr } = spawnSync(process.execPath, [cdk, 'synth', '--quiet'], {
    cwd: root,
    encoding: 'utf8',
    // cdk runs `node infra/bin/app.ts`: with this very node first on PATH it strips types, whatever the system has.
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}` },
  })
  if (status !== 0) throw new Error(`cdk synth failed:\n${stdout}${stderr}`)
  return { directory, synthesized: true }
}

function newestMs(root: string, relative: string): number {
  const path = join(root, relative)
  if (NOT_SOURCES.includes(relative) || !existsSync(path)) return 0
  const stats = statSync(path)
  if (!stats.isDirectory()) return stats.mtimeMs
  return Math.max(0, ...readdirSync(path).map((name) => newestMs(root, join(relative, name))))
}
