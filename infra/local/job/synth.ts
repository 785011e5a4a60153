import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

// What the synthesized template and the bundles in it are made of.
const SOURCES = ['lib', 'functions', 'infra', 'cdk.json', 'package-lock.json', 'tsconfig.json']
const LOOK_EVERY_MS = 200
// A synth takes some ten seconds, and a loaded machine a few times that.
const STALE_LOCK_MS = 180_000
// This runner is not in the template.
const NOT_SOURCES = [join('infra', 'local')]

/**
 * Runs `cdk synth` unless its output is newer than everything it is made of.
 *
 * @returns the directory of the cloud assembly and whether it was made just now.
 * @throws Error with the output of cdk when it fails.
 */
export function ensureAssembly(root: string): { readonly directory: string; readonly synthesized: boolean } {
  return alone(join(root, '.local', 'synth.lock'), () => synthesize(root))
}

function synthesize(root: string): { readonly directory: string; readonly synthesized: boolean } {
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

/** Two runs that synthesized at the same time would write over each other: the second waits for the first. */
function alone<Value>(lock: string, work: () => Value): Value {
  mkdirSync(dirname(lock), { recursive: true })
  for (;;) {
    try {
      mkdirSync(lock)
      break
    } catch (error) {
      if (Reflect.get(Object(error), 'code') !== 'EEXIST') throw error
      // Whoever had it was killed.
      if (Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > STALE_LOCK_MS) {
        rmSync(lock, { recursive: true, force: true })
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_EVERY_MS)
    }
  }
  try {
    return work()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function newestMs(root: string, relative: string): number {
  const path = join(root, relative)
  if (NOT_SOURCES.includes(relative) || !existsSync(path)) return 0
  const stats = statSync(path)
  if (!stats.isDirectory()) return stats.mtimeMs
  return Math.max(0, ...readdirSync(path).map((name) => newestMs(root, join(relative, name))))
}
