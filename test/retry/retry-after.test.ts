import { afterEach, describe, expect, test, vi } from 'vitest'
import { retryAfterMs } from '../../lib/retry/retry-after.ts'

const NOW_MS = Date.parse('2026-03-01T12:00:00Z')
const read = (retryAfter: string | null, date: string | null = null) => retryAfterMs({ retryAfter, date }, NOW_MS)

afterEach(() => vi.unstubAllEnvs())

describe('Retry-After', () => {
  test.each([
    ['0', 0],
    [' 120 ', 120_000],
    ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['Sunday, 01-Mar-26 12:00:30 GMT', 30_000],
    ['Sun Mar  1 12:00:30 2026', 30_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
  ])('"%s" is %i ms, wherever the function runs', (text, ms) => {
    for (const zone of ['UTC', 'America/New_York']) {
      vi.stubEnv('TZ', zone)
      expect(read(text)).toBe(ms)
    }
  })

  test.each([null, '', 'soon', '-1', '1.5', '1e3', '2026-03-01T12:00:30Z', 'Sun, 99 Mar 2026 12:00:30 GMT'])(
    '%o says nothing',
    (text) => {
      expect(read(text)).toBeUndefined()
    },
  )

  test('as a date is counted from the server’s own Date, when that can be read', () => {
    const retryAfter = 'Sun, 01 Mar 2026 09:00:10 GMT'
    expect(read(retryAfter, 'Sun, 01 Mar 2026 09:00:00 GMT')).toBe(10_000)
    expect(read('Sun, 01 Mar 2026 12:00:10 GMT', 'now')).toBe(10_000)
  })
})
