import { parseArgs } from 'node:util'

/** What the command line asks for. */
export interface BenchOptions {
  readonly json: boolean
  readonly quick: boolean
  readonly write: boolean
  readonly only: string | undefined
  readonly tableRecords: number
}

const DEFAULT_TABLE_RECORDS = 20_000

/** @throws Error saying what is wrong with the arguments */
export function benchOptions(args: readonly string[], partNames: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      only: { type: 'string' },
      'table-records': { type: 'string', default: String(DEFAULT_TABLE_RECORDS) },
    },
  })
  const { json, quick, write, only } = values
  if (only !== undefined && !partNames.includes(only)) {
    throw new Error(`--only takes one of ${partNames.join(', ')}; got ${only}.`)
  }
  if (quick && write) throw new Error('--write is for figures of a whole run: leave out --quick.')
  const tableRecords = Number(values['table-records'])
  if (!Number.isInteger(tableRecords) || tableRecords < 1) {
    throw new Error(`--table-records takes a number of records; got ${values['table-records']}.`)
  }
  return { json, quick, write, only, tableRecords }
}
