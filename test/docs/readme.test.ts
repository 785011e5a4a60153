import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { BATCH_DEFAULTS } from '../../lib/batch/options.ts'
import { CACHE_DEFAULTS } from '../../lib/cache/cached-store.ts'
import { HTTP_DEFAULTS } from '../../lib/http/options.ts'
import { DEFAULTS } from '../../lib/index.ts'
import { RELAY_DEFAULTS } from '../../lib/outbox/relay-options.ts'
import { RECONCILER_DEFAULTS } from '../../lib/reconciler/options.ts'

const ROOT = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8')

/** The rows of a table of options: a name and its default as it is written. */
function optionsIn(page: string, from = ''): ReadonlyMap<string, string> {
  const [section = ''] = read(page)
    .slice(Math.max(0, read(page).indexOf(from)))
    .split(/^## (?!Options)/m)
  const rows = section.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)
  return new Map([...rows].map(([, name = '', value = '']) => [name, value.trim()]))
}

/** The options that an interface of the code has. */
function optionsOf(file: string, ...names: readonly string[]): Set<string> {
  const bodies = names.map(
    (name) => read(file).match(new RegExp(`interface ${name}\\b.*?\\{\\n(.*?)\\n\\}`, 's'))?.[1] ?? '',
  )
  return new Set(bodies.flatMap((body) => [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name = '']) => name)))
}

const { leaseWithoutDeadlineSeconds: _, ...defaults } = DEFAULTS
const batch = ['CommonBatchOptions', 'ParsedBatchOptions', 'ValidatedBatchOptions']

describe.each([
  {
    of: 'createIdempotency',
    rows: optionsIn('docs/options.md'),
    defaults,
    options: optionsOf('lib/operation/options.ts', 'IdempotencyOptions'),
    ports: ['clock', 'newId', 'random'],
  },
  {
    of: 'idempotentHttp',
    rows: optionsIn('docs/http.md', '## Options'),
    defaults: HTTP_DEFAULTS,
    options: optionsOf('lib/http/options.ts', 'IdempotentHttpOptions'),
  },
  {
    of: 'idempotentBatch',
    rows: optionsIn('docs/sqs.md', '## Options'),
    defaults: BATCH_DEFAULTS,
    options: optionsOf('lib/batch/options.ts', ...batch),
  },
  {
    of: 'outboxRelay',
    rows: optionsIn('docs/outbox.md', 'The relay is a function'),
    defaults: RELAY_DEFAULTS,
    options: optionsOf('lib/outbox/relay-options.ts', 'OutboxRelayOptions'),
    ports: ['clock'],
  },
  {
    of: 'reconciler',
    rows: optionsIn('docs/reconciler.md', '| option |'),
    defaults: RECONCILER_DEFAULTS,
    options: optionsOf('lib/reconciler/options.ts', 'ReconcilerOptions'),
  },
  {
    of: 'cachedStore',
    rows: optionsIn('docs/cache.md'),
    defaults: CACHE_DEFAULTS,
    options: optionsOf('lib/cache/cached-store.ts', 'CachedStoreOptions'),
  },
  {
    of: 'idempotentEvent',
    rows: optionsIn('docs/eventbridge.md', '## Options'),
    defaults: {},
    options: optionsOf('lib/event/options.ts', 'IdempotentEventOptions'),
  },
])('the table of options of $of', ({ rows, defaults: given, options, ports = [] }) => {
  test('has the true defaults', () => {
    const written = Object.fromEntries(Object.keys(given).map((name) => [name, rows.get(name)]))
    const actual = Object.entries(given).map(([name, value]) => [name, [value].flat().join(', ')])
    expect(written).toEqual(Object.fromEntries(actual))
  })

  test('has every option but the ports', () => {
    expect(options.size).toBeGreaterThan(2)
    expect([...rows.keys()].sort()).toEqual([...options].filter((name) => !ports.includes(name)).sort())
  })
})

test('the page of errors has every code and no other', () => {
  const [, union = ''] = read('lib/base/errors.ts').match(/type ErrorCode =\n(.*?)\n\n/s) ?? []
  const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code = '']) => code)
  const table = read('docs/errors.md').split('## Every code')[1] ?? ''
  const named = [...table.matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \|/gm)].flatMap(([, list = '']) =>
    [...list.matchAll(/\w+/g)].map(([code]) => code),
  )
  expect(codes.length).toBeGreaterThan(20)
  expect(named.sort()).toEqual(codes.sort())
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
