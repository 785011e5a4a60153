import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The checkout. */
export const ROOT: string = fileURLToPath(new URL('../../', import.meta.url))

/** One entry point of the package, as `exports` in package.json names it. */
export interface Entry {
  /** What a user imports: `lambda-once/http`. */
  readonly specifier: string
  /** Its name as a file: `http`; that of the package itself is `index`. */
  readonly name: string
  /** Absolute paths. */
  readonly types: string
  readonly code: string
}

interface Exports {
  readonly exports: Readonly<Record<string, { readonly types: string; readonly default: string }>>
}

/** Every entry point of the built package. */
export function packageEntries(): readonly Entry[] {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Exports
  return Object.entries(exports).map(([path, target]) => ({
    specifier: `lambda-once${path.slice(1)}`,
    name: path === '.' ? 'index' : path.slice(2).replaceAll('/', '-'),
    types: join(ROOT, target.types),
    code: join(ROOT, target.default),
  }))
}
