import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { DEFAULTS } from '../../lib/index.ts'

const ROOT = new URL('../../', import.meta.url)
const readme = readFileSync(new URL('README.md', ROOT), 'utf8')

/** The rows of the table of options: a name and its default as it is written. */
const rows = new Map(
  [...readme.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map(([, name = '', value = '']) => [name, value.trim()]),
)

describe('the table of options in the README', () => {
  test.each(Object.entries(DEFAULTS).filter(([name]) => name !== 'leaseWithoutDeadlineSeconds'))(
    'has the true default of %s',
    (name, value) => {
      expect(rows.get(name)).toBe(String(value))
    },
  )
})

test('links of the README lead somewhere', () => {
  const targets = [...readme.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, target = '']) => target)
  const files = targets.filter((target) => !target.startsWith('http'))
  expect(files.length).toBeGreaterThan(3)
  for (const file of files) expect(existsSync(new URL(file, ROOT)), file).toBe(true)
})
