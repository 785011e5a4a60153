import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type ForgottenExport, REPORTS, reportFile, writeReports } from '../../infra/package/api-report.ts'
import { packageEntries } from '../../infra/package/entries.ts'

/** Parts of public types that nobody has to name: shared fields, and what is only ever inferred. */
const NEVER_NAMED: readonly string[] = [
  'Common',
  'EventType',
  'FailedRecord',
  'Fetch',
  'Headed',
  'Member',
  'OpenBatch',
  'QueueTraits',
  'Reported',
  'RequestParts',
  'WATCHED_EVENTS',
]

const folder = mkdtempSync(join(tmpdir(), 'lambda-once-api-'))
const forgotten: readonly ForgottenExport[] = writeReports(folder)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (where: string, file: string) => readFileSync(join(where, file), 'utf8')

describe('the report of the public types', () => {
  test.each(packageEntries())('of $specifier is what the code exports (npm run api writes it anew)', ({ name }) => {
    expect(read(REPORTS, reportFile(name))).toBe(read(folder, reportFile(name)))
  })

  test('is kept for every entry, and for nothing else', () => {
    expect(readdirSync(REPORTS)).toEqual(readdirSync(folder))
  })
})

test('every type that a public signature names can be imported', () => {
  const reports = readdirSync(folder).map((file) => read(folder, file))
  const isExported = (symbol: string) =>
    reports.some((report) =>
      new RegExp(`^export .*\\b(?:class|const|function|interface|type) ${symbol}\\b`, 'm').test(report),
    )
  const missing = [...new Set(forgotten.map(({ symbol }) => symbol))].filter((symbol) => !isExported(symbol))
  expect(missing.sort()).toEqual(NEVER_NAMED)
})
