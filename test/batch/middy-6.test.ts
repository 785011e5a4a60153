import middy from '@middy/core'
import middy6 from 'middy6'
import { expect, test, vi } from 'vitest'

// The whole middleware part of the suite once more, on the oldest Middy that is supported.
vi.mock('@middy/core', async () => ({ ...(await vi.importActual<object>('middy6')) }))

test('what follows runs on Middy 6', () => {
  expect(middy).toBe(middy6)
})

await import('./middleware.test.ts')
await import('./truth-table.test.ts')
