import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import type { Spread } from '../pairs.ts'
import type { Section } from './section.ts'
import { judged } from './targets.ts'

/** The targets and whether they are met, as a table. */
export function targetsSection(
  figures: Readonly<Record<string, Spread>>,
  floors: Readonly<Record<string, Spread>>,
): Section {
  const rows = Object.entries(judged(figures, floors)).map(
    ([name, { ratio, low, high, pairs, target, met, floor }]) => {
      const spread = pairs > 1 ? `${low.toFixed(2)}–${high.toFixed(2)}` : 'exact'
      const least = floor?.toFixed(2) ?? '–'
      return [`\`${name}\``, ratio.toFixed(2), spread, String(pairs), `≤ ${target}`, met ? 'yes' : '**no**', least]
    },
  )
  const head = ['ratio', 'median', 'quartiles', 'pairs', 'target', 'met', 'the floor’s ratio']
  return { name: 'targets', command: 'npm run bench -- --json', head, rows }
}

/** Where the figures were measured. */
export function machineSection(): Section {
  const [{ model = 'unknown' } = {}] = cpus()
  const rows = [
    ['processor', `${cpus().length} × ${model}`],
    ['Node.js', `${process.version} on ${process.platform}`],
    ...PACKAGES.map((name) => [name, versionOf(name)]),
  ]
  return { name: 'machine', command: 'npm run bench -- --write', head: ['what', 'which'], rows }
}

const PACKAGES = ['@aws-sdk/client-dynamodb', '@aws-lambda-powertools/idempotency', '@aws-lambda-powertools/batch']

/** Read as a file: not every package lets its own be imported. */
function versionOf(name: string): string {
  const path = new URL(`../../../node_modules/${name}/package.json`, import.meta.url)
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version
}
