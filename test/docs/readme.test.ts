import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { DEFAULTS } from '../../lib/index.ts'

const ROOT = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8')

/** The rows of the table of options: a name and its default as it is written. */
const rows = new Map(
  [...read('docs/options.md').matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map(([, name = '', value = '']) => [
    name,
    value.trim(),
  ]),
)

describe('the table of options', () => {
  test.each(Object.entries(DEFAULTS).filter(([name]) => name !== 'leaseWithoutDeadlineSeconds'))(
    'has the true default of %s',
    (name, value) => {
      expect(rows.get(name)).toBe(String(value))
    },
  )

  test('has every option but the ports', () => {
    const [, body = ''] = read('lib/operation/options.ts').match(/interface IdempotencyOptions \{\n(.*?)\n\}/s) ?? []
    const options = [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name = '']) => name)
    const ports = ['clock', 'newId', 'random']
    expect(options.length).toBeGreaterThan(15)
    expect([...rows.keys()].sort()).toEqual(options.filter((name) => !ports.includes(name)).sort())
  })
})

const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  ...readdirSync(new URL('docs/', ROOT))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

/** The anchors that a page's headings make, as GitHub does it. */
function anchorsOf(page: string): Set<string> {
  const headings = [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/\]\([^)]*\)/g, '')
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

test.each(pages)('links of %s lead somewhere', (page) => {
  const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  for (const link of links.filter((target) => !target.startsWith('http'))) {
    const [path = '', anchor] = link.split('#')
    const file = path === '' ? page : new URL(path, new URL(page, 'file:///')).pathname.slice(1)
    expect(existsSync(new URL(file, ROOT)), link).toBe(true)
    if (anchor !== undefined && file.endsWith('.md')) expect([...anchorsOf(file)], link).toContain(anchor)
  }
})

test('every guide can be reached from the README', () => {
  const guides = pages.filter((page) => page.startsWith('docs/'))
  expect(guides.filter((page) => !read('README.md').includes(`](${page}`))).toEqual([])
})
