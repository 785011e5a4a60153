import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const MINIMUM_JAVA_VERSION = 17

const INSTALL_HINT =
  'DynamoDB Local needs Java 17 or newer: install a headless JRE (Debian/Ubuntu: apt-get install default-jre-headless; macOS: brew install openjdk) or set JAVA_HOME.'

/** Whether a usable Java is there, and where. */
export type JavaSearch =
  | { readonly found: true; readonly path: string }
  | { readonly found: false; readonly reason: string }

/** Looks for Java 17 or newer in JAVA_HOME, then on PATH; installs nothing. */
export function findJava(env: NodeJS.ProcessEnv = process.env): JavaSearch {
  const candidates = [...(env.JAVA_HOME ? [join(env.JAVA_HOME, 'bin', 'java')] : []), 'java']
  const rejected: string[] = []
  for (const path of candidates) {
    const version = javaVersion(path)
    if (version === undefined) continue
    if (version >= MINIMUM_JAVA_VERSION) return { found: true, path }
    rejected.push(`${path} is Java ${version}`)
  }
  const seen = rejected.length > 0 ? ` (found: ${rejected.join(', ')})` : ''
  return { found: false, reason: INSTALL_HINT + seen }
}

/** Like {@link findJava}, and installs Debian's headless JRE when there is none and this process may. */
export function findOrInstallJava(report: (line: string) => void = console.error): JavaSearch {
  const before = findJava()
  if (before.found || !mayInstall()) return before
  report('No Java 17+ here; installing default-jre-headless with apt-get (once, takes a minute) …')
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'default-jre-headless']]) {
    const { status, stderr } = spawnSync('apt-get', args, {
      encoding: 'utf8',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
    if (status !== 0) {
      const lastLine = stderr?.trim().split('\n').at(-1) ?? 'it could not be run'
      return { found: false, reason: `${INSTALL_HINT} (apt-get ${args[0]} failed: ${lastLine})` }
    }
  }
  return findJava()
}

/** The path of a usable Java, found or installed.
 *
 * @throws Error with one sentence that says what to install.
 */
export function requireJava(report?: (line: string) => void): string {
  const search = findOrInstallJava(report)
  if (!search.found) throw new Error(search.reason)
  return search.path
}

function mayInstall(): boolean {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version')
}

function javaVersion(path: string): number | undefined {
  const { status, stderr } = spawnSync(path, ['-version'], { encoding: 'utf8' })
  if (status !== 0) return undefined
  // "17.0.15", "21", and the old scheme "1.8.0_292" whose major is the second number.
  const match = /version "(?:1\.)?(\d+)/.exec(stderr)
  return match ? Number(match[1]) : undefined
}
