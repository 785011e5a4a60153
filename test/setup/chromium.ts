import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const CANDIDATES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** A browser that can be driven, or why there is none. */
export type ChromiumSearch =
  | { readonly found: true; readonly path: string }
  | { readonly found: false; readonly reason: string }

/**
 * Looks for a Chromium, at CHROMIUM_PATH or on PATH; as root on Debian it is installed, as the JRE is. What is said where
 * there is none is loud: tests of a page that no browser has opened prove nothing.
 */
export function findOrInstallChromium(report: (line: string) => void = console.error): ChromiumSearch {
  const before = findChromium()
  if (before !== undefined) return { found: true, path: before }
  const hint =
    'THE BROWSER TESTS ARE SKIPPED: install Chromium (Debian: apt-get install chromium) or set CHROMIUM_PATH.'
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) {
    report(hint)
    return { found: false, reason: hint }
  }
  report('No Chromium here; installing it with apt-get (once, takes a minute or two) …')
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'chromium', 'fonts-dejavu-core']]) {
    const { status, stderr } = spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], {
      encoding: 'utf8',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
    if (status !== 0) {
      const reason = `${hint} (apt-get ${args[0]} failed: ${stderr?.trim().split('\n').at(-1) ?? 'it could not be run'})`
      report(reason)
      return { found: false, reason }
    }
  }
  const path = findChromium()
  if (path !== undefined) return { found: true, path }
  report(hint)
  return { found: false, reason: hint }
}

/** Starts it. As root it has no sandbox, and nothing is to be asked of the network. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  })
}

function findChromium(): string | undefined {
  const named = process.env.CHROMIUM_PATH
  if (named !== undefined && named !== '') return named
  return CANDIDATES.map(whereIs).find((path) => path !== undefined)
}

function whereIs(name: string): string | undefined {
  const { status, stdout } = spawnSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}
