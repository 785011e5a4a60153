import { readFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { bundleSizes, type EntrySize } from './bundle-size.ts'

/**
 * Most minified kilobytes that an entry may add to what a function with the SDK and Middy has: to a bundle of one file,
 * and to what is loaded before the first invocation where the bundle is split. They go up only for what protects, and what makes every
 * message cheaper.
 */
const BUDGETS: Readonly<Record<string, readonly [whole: number, first: number]>> = {
  '.': [97, 62],
  './http': [21.5, 24],
  './batch': [30.5, 38.5],
  './event': [17.5, 20.5],
  './keys': [8.5, 8.5],
  './dynamodb': [42, 23.5],
  './cache': [23, 23],
  './memory': [13, 13],
  './retry': [11, 11],
  './order': [8.5, 8.5],
  './outbox': [38, 24.5],
  './reconciler': [33, 34],
  './testing': [139, 103],
  './observability': [5, 5],
  './observability/opentelemetry': [11, 11],
  './powertools': [11, 11],
  'HTTP middleware': [20.5, 23.5],
  'batch middleware': [21.5, 29.5],
  'HTTP middleware, engine and DynamoDB store': [153, 99.5],
  'batch middleware, engine and DynamoDB store': [151, 99.5],
  'engine and DynamoDB store': [135.5, 82],
}

let sizes: readonly EntrySize[]

beforeAll(async () => {
  sizes = await bundleSizes()
}, 240_000)

test('what each entry adds to a bundle, and to a cold start, stays within its budget', () => {
  const over = sizes.filter(({ entry, bytes, first }) => {
    const [whole = 0, atFirst = 0] = BUDGETS[entry] ?? []
    return bytes > whole * 1024 || first > atFirst * 1024
  })
  expect(over).toEqual([])
  expect(sizes.map(({ entry }) => entry)).toEqual(Object.keys(BUDGETS))
})

test('every public entry point that a function may bundle has a budget', async () => {
  const manifest: { exports: object } = JSON.parse(
    await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  // Constructs run at synthesis, and the contract suite in tests of stores.
  const bundled = Object.keys(manifest.exports).filter((entry) => !['./cdk', './store-contract'].includes(entry))
  expect(Object.keys(BUDGETS)).toEqual(expect.arrayContaining(bundled))
})
