import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { BUDGET_DEFAULTS, RETRY_DEFAULTS } from '../../lib/retry/index.ts'

const guide = readFileSync(new URL('../../docs/retries.md', import.meta.url), 'utf8')

test.each(Object.entries(RETRY_DEFAULTS))('the guide names the default of %s', (name, value) => {
  const row = guide.split('\n').find((line) => line.startsWith(`| \`${name}\``))
  expect(row?.split('|').at(-2)?.trim()).toBe(String(value))
})

test.each(Object.entries(BUDGET_DEFAULTS))('the guide names the default of %s', (name, value) => {
  expect(guide).toContain(`\`${name}\` (${value})`)
})
