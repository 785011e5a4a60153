import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const CONSTRUCTS = fileURLToPath(new URL('../../infra/constructs/', import.meta.url))

/** Every property of an exported interface that ends in Props, Options or Route, with the comment before it. */
const props = readdirSync(CONSTRUCTS, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => {
    const source = readFileSync(join(CONSTRUCTS, file), 'utf8')
    const interfaces = [
      ...source.matchAll(/^export interface (\w+(?:Props|Options|Route|Thresholds|Entry))\b.*?\{\n(.*?)^\}/gms),
    ]
    return interfaces.flatMap(([, owner, body = '']) =>
      [...body.matchAll(/((?: {2}\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?) {2}readonly (\w+)(\?)?:/g)].map(
        ([, doc = '', name, optional]) => ({
          name: `${owner}.${name}`,
          doc,
          isOptional: optional === '?',
        }),
      ),
    )
  })

test('there are props of every construct', () => {
  const owners = new Set(props.map(({ name }) => name.split('.')[0]))
  for (const owner of [
    'IdempotencyTable',
    'IdempotentQueue',
    'IdempotentFunction',
    'IdempotentApi',
    'OutboxRelay',
    'Reconciler',
    'IdempotencyDashboard',
  ]) {
    expect([...owners]).toContain(`${owner}Props`)
  }
})

test.each(props)('$name says what it is, and its default when it may be left out', ({ doc, isOptional }) => {
  expect(doc.replace(/@default[\s\S]*/, '')).toMatch(/[A-Za-z]{2,} [A-Za-z]/)
  expect(/@default \S/.test(doc)).toBe(isOptional)
})
