import type { SQSEvent } from 'aws-lambda'
import { profiled, type Spending } from '../profile.ts'
import { batchOf, invocationContext, orderOf, type ResultText, redelivered, resultOf, SMALL_RESULT } from './orders.ts'
import type { Side } from './side.ts'

/** What a piece of work has cost the process that did it, and, in metered rounds, DynamoDB. */
export interface Cost {
  readonly wallMs: number
  readonly cpuMs: number
  readonly requests: number
  readonly writeUnits: number
  readonly readUnits: number
}

/** What a task works with. */
export interface Bench {
  readonly side: Side
  /** Sets what the handler returns from now on. */
  returns(result: unknown): void
  measured(work: () => Promise<unknown>): Promise<Cost>
}

/** First executions, then their duplicates. */
async function single(
  { side, returns, measured }: Bench,
  { run, count, concurrency }: { readonly run: string; readonly count: number; readonly concurrency: number },
): Promise<{ readonly first: Cost; readonly duplicate: Cost }> {
  returns(SMALL_RESULT)
  const context = invocationContext()
  const all = () => inParallel(count, concurrency, (index) => side.once(orderOf(`${run}-${index}`), context))
  return { first: await measured(all), duplicate: await measured(all) }
}

/** How much of a batch is done already: what is, was sent twice, or comes a second time from the queue. */
export type Share = 'none' | 'half' | 'all' | 'redelivered'

/** Batches of each share. */
async function batches(
  { side, returns, measured }: Bench,
  { run, size, repeat }: { readonly run: string; readonly size: number; readonly repeat: number },
): Promise<Readonly<Record<Share, Cost>>> {
  returns(SMALL_RESULT)
  const fresh = eventsOf(repeat, size, (batch, index) => `${run}-${batch}-${index}`)
  const half = eventsOf(repeat, size, (batch, index) => `${run}${index % 2 === 0 ? '' : '-half'}-${batch}-${index}`)
  const again = fresh.map(redelivered)
  return {
    none: await measured(() => handled(side, fresh)),
    all: await measured(() => handled(side, fresh)),
    half: await measured(() => handled(side, half)),
    redelivered: await measured(() => handled(side, again)),
  }
}

/** Batches of new records. */
async function newBatches(
  { side, returns, measured }: Bench,
  { run, size, repeat }: { readonly run: string; readonly size: number; readonly repeat: number },
): Promise<Cost> {
  returns(SMALL_RESULT)
  const events = eventsOf(repeat, size, (batch, index) => `${run}-${batch}-${index}`)
  return measured(() => handled(side, events))
}

/** Where the CPU time of first executions, and of their duplicates, goes. */
async function profile(
  { side, returns }: Bench,
  { run, count }: { readonly run: string; readonly count: number },
): Promise<{ readonly first: Spending; readonly duplicate: Spending }> {
  returns(SMALL_RESULT)
  const context = invocationContext()
  const all = () => inParallel(count, 1, (index) => side.once(orderOf(`${run}-${index}`), context))
  return { first: await profiled(all), duplicate: await profiled(all) }
}

/** Operations with a result of some size, then their duplicates; or why they fail. */
async function results(
  { side, returns, measured }: Bench,
  {
    run,
    bytes,
    text,
    count,
  }: { readonly run: string; readonly bytes: number; readonly text: ResultText; readonly count: number },
): Promise<{ readonly first: Cost; readonly duplicate: Cost } | { readonly failure: string }> {
  returns(resultOf(bytes, text))
  const context = invocationContext()
  const all = () => inParallel(count, 1, (index) => side.once(orderOf(`${run}-${index}`), context))
  try {
    return { first: await measured(all), duplicate: await measured(all) }
  } catch (error) {
    const { message, cause } = error as Error
    return { failure: cause instanceof Error ? cause.message : message }
  }
}

/** How much more lives on the heap in the middle of a batch than before it, at most. */
async function memory(
  { side, returns }: Bench,
  { run, size }: { readonly run: string; readonly size: number },
): Promise<{ readonly heapBytes: number }> {
  const event = batchOf(Array.from({ length: size }, (_, index) => `${run}-${index}`))
  const context = invocationContext()
  let most = 0
  let calls = 0
  const before = heapInUse()
  returns(() => {
    calls++
    if (calls % Math.ceil(size / LOOKS) === 0) most = Math.max(most, heapInUse())
    return SMALL_RESULT
  })
  await side.batch(event, context)
  return { heapBytes: most - before }
}

function eventsOf(repeat: number, size: number, idOf: (batch: number, index: number) => string): SQSEvent[] {
  return Array.from({ length: repeat }, (_, batch) =>
    batchOf(Array.from({ length: size }, (_, index) => idOf(batch, index))),
  )
}

/** One after the other, as one Lambda function gets them. */
async function handled(side: Side, events: readonly SQSEvent[]): Promise<void> {
  const context = invocationContext()
  for (const event of events) {
    const { batchItemFailures } = await side.batch(event, context)
    if (batchItemFailures.length > 0) throw new Error(`${batchItemFailures.length} records failed`)
  }
}

/** How often the heap is looked at in a batch. */
const LOOKS = 8

function heapInUse(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

async function inParallel(
  count: number,
  concurrency: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

/** What a side can be told to do. */
export const TASKS = { single, profile, batches, newBatches, results, memory }
export type Tasks = typeof TASKS
