import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { groups, PAGE, page } from './page.ts'

test('the page of field cases is made of the tests as they are: node test/field-cases/page.ts', () => {
  expect(readFileSync(PAGE, 'utf8')).toBe(page())
})

test('it has a group per kind, and more than a hundred cases', () => {
  expect(groups()).toHaveLength(12)
  expect(groups().flatMap(({ cases }) => cases).length).toBeGreaterThan(110)
  for (const { cases } of groups()) expect(new Set(cases).size).toBe(cases.length)
})
