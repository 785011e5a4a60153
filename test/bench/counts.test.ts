import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { pathsSection } from './parts/counts.ts'
import { actionsOf, measurePaths, measureRecord, type PathUnits, unitsOf } from './paths/measure.ts'
import { pageWith } from './report/pages.ts'
import { scaleSections } from './scale/sections.ts'

let paths: readonly PathUnits[] = []

beforeAll(async () => {
  paths = await measurePaths(inject('dynamoDbEndpoint'))
})

function walked(name: string, isIndexed = false): PathUnits {
  const found = paths.find(({ path, isIndexed: has }) => path === name && has === isIndexed)
  if (found === undefined) throw new Error(`no path is named ${name}`)
  return found
}

describe('the requests of', () => {
  test.each([
    ['first execution', 'PutItem, UpdateItem'],
    ['first execution, outcome of 50 KB', '2 PutItem, UpdateItem'],
    ['first execution, outcome of 1 MB', '3 PutItem, UpdateItem'],
    ['first execution, one step', 'PutItem, 2 UpdateItem'],
    ['first execution, one step with a start mark', 'PutItem, 3 UpdateItem'],
    ['first execution, commit without writes', 'PutItem, TransactWriteItems'],
    ['first execution, commit of 3 small writes', 'PutItem, TransactWriteItems'],
    ['first execution, commit of 1 small write and a message', 'PutItem, TransactWriteItems'],
    ['first execution, commit of 1 small write and a receipt', 'PutItem, TransactWriteItems'],
    ['first execution, nothing was done: released', 'PutItem, UpdateItem'],
    ['first execution, to be resumed', 'PutItem, UpdateItem'],
    ['resumed execution', 'PutItem, 2 UpdateItem'],
    ['duplicate', 'PutItem'],
    ['duplicate, outcome of 1 KB', 'PutItem'],
    ['duplicate, outcome of 50 KB', 'PutItem, BatchGetItem'],
    ['duplicate, outcome of 1 MB', 'PutItem, BatchGetItem'],
    ['duplicate, redelivered', 'GetItem'],
    ['duplicate while the first one runs', 'PutItem'],
    ['another request under a used key', 'PutItem'],
    ['batch of 10, one by one', '10 PutItem, 10 UpdateItem'],
    ['batch of 10 duplicates, one by one', '10 PutItem'],
    ['batch of 10', '4 BatchExecuteStatement'],
    ['batch of 10 duplicates', '2 BatchExecuteStatement, 2 BatchGetItem'],
    ['batch of 10 redelivered', 'BatchGetItem'],
    ['relay, each message', 'UpdateItem'],
  ])('a %s', (name, actions) => {
    expect(actionsOf(walked(name))).toBe(actions)
    expect(actionsOf(walked(name, true))).toBe(actions)
  })

  test.each([
    ['first execution that waits', 'PutItem, UpdateItem'],
    ['signal to what waits', 'GetItem, UpdateItem'],
    ['run of a reconciler, nothing due in 4 shards', '4 Query'],
  ])('a %s', (name, actions) => {
    expect(actionsOf(walked(name, true))).toBe(actions)
  })
})

describe('the units of', () => {
  test.each([
    ['first execution', 2],
    ['first execution, one step', 3],
    ['first execution, commit of 3 small writes', 9],
    ['duplicate', 1],
    ['duplicate, outcome of 1 MB', 1],
    ['batch of 10, one by one', 20],
    ['batch of 10', 20],
    ['batch of 10 duplicates', 10],
    ['duplicate, redelivered', 0],
    ['batch of 10 redelivered', 0],
  ])('a %s are %d writes', (name, writeUnits) => {
    expect(unitsOf(walked(name)).writeUnits).toBe(writeUnits)
  })

  test.each([
    ['duplicate', 0],
    ['duplicate, redelivered', 1],
    ['batch of 10 duplicates', 10],
    ['batch of 10 redelivered', 10],
  ])('a %s are %d reads', (name, readUnits) => {
    expect(unitsOf(walked(name)).readUnits).toBe(readUnits)
  })

  test('a duplicate add nothing to the index', () => {
    for (const name of ['duplicate', 'duplicate, redelivered', 'batch of 10 duplicates', 'batch of 10 redelivered']) {
      expect(unitsOf(walked(name, true)).indexUnits).toBe(0)
    }
  })
})

describe('what is measured stands in', () => {
  const page = (name: string) => readFile(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8')

  test('docs/costs.md', async () => {
    const costs = await page('costs')
    expect(pageWith(costs, [pathsSection(paths)])).toBe(costs)
    expect(costs).toContain('| first execution | 2 |')
  })

  test('docs/scale.md, as far as it comes from it', async () => {
    const scale = await page('scale')
    const sections = scaleSections(paths, await measureRecord(inject('dynamoDbEndpoint')))
    expect(pageWith(scale, sections)).toBe(scale)
    for (const { name } of sections) expect(scale).toContain(`<!-- bench: ${name} -->`)
  })
})
