import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { bundleSizes } from './bundle-size.ts'

/** Most minified bytes that an entry may add to a bundle with the SDK and Middy. */
const BUDGETS: Readonly<Record<string, number>> = {
  'HTTP middleware': 20 * 1024,
  'batch middleware': 21 * 1024,
}

test('what each middleware adds to a bundle stays within its budget', async () => {
  const sizes = await bundleSizes(fileURLToPath(new URL('../../', import.meta.url)))
  const over = sizes.filter(({ entry, bytes }) => bytes > (BUDGETS[entry] ?? Number.POSITIVE_INFINITY))
  expect(sizes.filter(({ entry }) => entry in BUDGETS)).toHaveLength(2)
  expect(over).toEqual([])
})
