// The process of one side: it does the tasks it is told over its channel, one by one.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { meter } from '../meter.ts'
import type { Side, SideSettings } from './side.ts'
import { type Bench, TASKS, type Tasks } from './tasks.ts'

/** What a parent sends. */
export interface Call {
  readonly task: keyof Tasks
  readonly input: unknown
  /** Whether requests and units are counted, which costs time of its own. */
  readonly isMetered: boolean
}

const [, , name = '', endpoint = '', tableName = '', concurrency = ''] = process.argv
// What both sides are given: connections are kept open and used by 50 requests at a time, the SDK's default.
const client = new DynamoDBClient({ endpoint, maxAttempts: 3 })
const { createSide } = (await import(`./${name}.ts`)) as { createSide(settings: SideSettings): Side }

let result: unknown
const side = createSide({
  client,
  tableName,
  concurrency: Number(concurrency),
  result: () => (typeof result === 'function' ? result() : result),
})

const bench: Bench = {
  side,
  returns(given) {
    result = given
  },
  async measured(work) {
    globalThis.gc?.()
    let requests = 0
    let writeUnits = 0
    let readUnits = 0
    const stop = isMetered
      ? meter(client, endpoint, (request) => {
          requests++
          writeUnits += request.writeUnits
          readUnits += request.readUnits
        })
      : () => undefined
    try {
      const cpu = process.cpuUsage()
      const startedAt = performance.now()
      await work()
      const wallMs = performance.now() - startedAt
      const { user, system } = process.cpuUsage(cpu)
      return { wallMs, cpuMs: (user + system) / 1000, requests, writeUnits, readUnits }
    } finally {
      stop()
    }
  },
}

let isMetered = false
process.on('message', async (call: Call) => {
  isMetered = call.isMetered
  const task = TASKS[call.task] as (bench: Bench, input: unknown) => Promise<unknown>
  try {
    process.send?.({ answer: await task(bench, call.input) })
  } catch (error) {
    process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})
process.on('disconnect', () => process.exit())
process.send?.({ answer: 'ready' })
