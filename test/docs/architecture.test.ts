import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const ROOT = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8')

/** Rows of the table of invariants: a file and the name of a test in it. */
const named = [...read('ARCHITECTURE.md').matchAll(/^\|[^|]*\| `([^`]+\.ts)`: (.+?) \|$/gm)].map(
  ([, file = '', name = '']) => ({ file, name }),
)

describe('each invariant names a test that exists', () => {
  test('and there are some', () => {
    expect(named.length).toBeGreaterThan(20)
  })

  test.each(named)('$file: $name', ({ file, name }) => {
    const code = read(file).replaceAll("\\'", "'")
    expect(code.includes(name)).toBe(true)
  })
})
