import { type PathUnits, unitsOf } from '../paths/measure.ts'
import type { Section } from '../report/section.ts'
import { ASSUMED, LIMITS, PRICES, SECONDS_PER_MONTH } from './assumptions.ts'

const COMMAND = 'npm run bench -- --only counts'
const { operationsPerSecond, concurrency, workMs, requestMs } = ASSUMED

/** A kind of operation, and the paths that each of its operations takes once. */
const WORKLOADS: readonly { readonly what: string; readonly paths: readonly string[]; readonly isIndexed: boolean }[] =
  [
    { what: 'a handler', paths: ['first execution'], isIndexed: false },
    { what: 'a handler, each message delivered twice', paths: ['first execution', 'duplicate'], isIndexed: false },
    {
      what: 'a handler, each message redelivered once by its queue',
      paths: ['first execution', 'duplicate, redelivered'],
      isIndexed: false,
    },
    { what: 'a handler with one step', paths: ['first execution, one step'], isIndexed: false },
    { what: 'a commit of 1 small write', paths: ['first execution, commit of 1 small write'], isIndexed: false },
    { what: 'a handler, with a reconciler', paths: ['first execution'], isIndexed: true },
    {
      what: 'a commit of 1 small write and a message that a relay sends, with a reconciler',
      paths: ['first execution, commit of 1 small write and a message', 'relay, each message'],
      isIndexed: true,
    },
  ]

/** What the measured units come to at a large scale. */
export function scaleSections(paths: readonly PathUnits[], recordBytes: number): Section[] {
  return [assumptions(), units(paths), index(paths), table(recordBytes), relay(paths), functions(), regions(paths)]
}

function assumptions(): Section {
  const days = (seconds: number) => `${seconds / 86_400} ${seconds === 86_400 ? 'day' : 'days'}`
  const rows = [
    ['operations a second', count(operationsPerSecond)],
    ['region, and the date of its prices', `${PRICES.region}, ${PRICES.asOf}`],
    ['a million write units', dollars(PRICES.writeUnitsPerMillion)],
    ['a million read units', dollars(PRICES.readUnitsPerMillion)],
    ['a gigabyte for a month', dollars(PRICES.gigabyteMonth)],
    ['`retentionSeconds`', `${count(ASSUMED.retentionSeconds)} (${days(ASSUMED.retentionSeconds)}, the default)`],
    ['TTL deletes later by', days(ASSUMED.ttlLagSeconds)],
    ['the work on a record', `${workMs} ms`],
    ['a request to DynamoDB', `${requestMs} ms`],
    ['sending ten messages', `${ASSUMED.sendMs} ms`],
    ['records at a time in one function (`concurrency`, the default)', String(concurrency)],
  ]
  return { name: 'scale-assumptions', command: 'test/bench/scale/assumptions.ts', head: ['assumed', ''], rows }
}

function units(paths: readonly PathUnits[]): Section {
  const rows = WORKLOADS.map(({ what, paths: names, isIndexed }) => {
    const { writeUnits, readUnits, indexUnits } = totalOf(paths, names, isIndexed)
    const perSecond = writeUnits * operationsPerSecond
    const million = writeUnits * PRICES.writeUnitsPerMillion + readUnits * PRICES.readUnitsPerMillion
    const month = (million * operationsPerSecond * SECONDS_PER_MONTH) / 1_000_000
    const partitions = Math.ceil(((writeUnits - indexUnits) * operationsPerSecond) / LIMITS.writeUnitsPerPartition)
    return [
      what,
      String(writeUnits),
      count(perSecond),
      dollars(million),
      dollars(Math.round(month)),
      String(partitions),
    ]
  })
  const head = [
    'operation',
    'write units each',
    `write units a second at ${count(operationsPerSecond)}/s`,
    'a million operations',
    'a month at that rate',
    'partitions that carry it, at least',
  ]
  return { name: 'scale-units', command: COMMAND, head, rows }
}

function index(paths: readonly PathUnits[]): Section {
  const rows = ['first execution', 'first execution, commit of 1 small write and a message'].map((path) => {
    const { indexUnits } = totalOf(paths, [path], true)
    const perSecond = indexUnits * operationsPerSecond
    return [path, String(indexUnits), count(perSecond), String(Math.ceil(perSecond / LIMITS.writeUnitsPerPartition))]
  })
  const head = ['operation', "index's write units each", 'a second', '`reconcilerShards`, at least']
  return { name: 'scale-index', command: COMMAND, head, rows }
}

function table(recordBytes: number): Section {
  const rows = [0, ASSUMED.ttlLagSeconds].map((lag) => {
    const records = operationsPerSecond * (ASSUMED.retentionSeconds + lag)
    const gigabytes = (records * (recordBytes + LIMITS.bytesAddedToItem)) / 1e9
    const month = dollars(Math.round(gigabytes * PRICES.gigabyteMonth))
    return [
      lag === 0 ? 'deleted at once' : `deleted ${lag / 86_400} days later`,
      count(records),
      `${count(Math.round(gigabytes))} GB`,
      month,
    ]
  })
  const head = [
    `expired records (of ${recordBytes} bytes, billed as ${recordBytes + LIMITS.bytesAddedToItem}) are`,
    'records',
    'table',
    'its storage a month',
  ]
  return { name: 'scale-table', command: COMMAND, head, rows }
}

function relay(paths: readonly PathUnits[]): Section {
  const path = 'first execution, commit of 1 small write and a message'
  const { writeUnits, indexUnits } = totalOf(paths, [path, 'relay, each message'], true)
  const shards = Math.ceil(((writeUnits - indexUnits) * operationsPerSecond) / LIMITS.writeUnitsPerPartition)
  const perShard = operationsPerSecond / shards
  // A relay sends ten at a time, and marks them as sent at the same time.
  const perInvocation = (10 * 1_000) / (ASSUMED.sendMs + requestMs)
  const rows = [
    ['partitions, each with an open shard of the stream, at least', String(shards)],
    ['messages a second in each', count(Math.ceil(perShard))],
    ['messages a second that one invocation sends', count(Math.floor(perInvocation))],
    ['`parallelizationFactor`, at least', String(Math.ceil(perShard / perInvocation))],
    ['relays that run at the same time', count(shards * Math.ceil(perShard / perInvocation))],
  ]
  return { name: 'scale-relay', command: COMMAND, head: ['one message in each commit', ''], rows }
}

function functions(): Section {
  const rows = [1, 10, 100, 1_000].map((batch) => {
    const waves = Math.ceil(batch / concurrency)
    const batchMs = waves * (workMs + 2 * requestMs)
    const invocations = operationsPerSecond / batch
    const environments = Math.ceil((invocations * batchMs) / 1_000)
    const queues = Math.ceil(environments / LIMITS.invocationsOfQueue)
    return [count(batch), count(invocations), `${count(batchMs)} ms`, count(environments), String(queues)]
  })
  const head = [
    'batch size',
    'invocations a second',
    'an invocation takes',
    'invocations at the same time',
    'queues, at least',
  ]
  return { name: 'scale-functions', command: COMMAND, head, rows }
}

function regions(paths: readonly PathUnits[]): Section {
  const { writeUnits } = totalOf(paths, ['first execution'], false)
  const rows = [1, 2, 3].map((replicas) => {
    const all = writeUnits * replicas
    return [String(replicas), String(all), count(all * operationsPerSecond)]
  })
  return { name: 'scale-regions', command: COMMAND, head: ['replicas', 'write units an operation', 'a second'], rows }
}

function totalOf(paths: readonly PathUnits[], names: readonly string[], isIndexed: boolean) {
  const walked = names.map((name) => paths.find((one) => one.path === name && one.isIndexed === isIndexed))
  const requests = walked.flatMap((path, at) => {
    if (path === undefined) throw new Error(`no path was measured under the name ${names[at]}`)
    return path.requests
  })
  return unitsOf({ path: '', isIndexed, requests })
}

function count(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 })
}

function dollars(value: number): string {
  return `$${value.toLocaleString('en-US', { maximumFractionDigits: 3, minimumFractionDigits: Number.isInteger(value) ? 0 : 2 })}`
}
