import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { expect, inject, test } from 'vitest'
import { batchHandler } from '../../lib/batch/index.ts'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { createIdempotency } from '../../lib/index.ts'
import { createTable, localClient } from './table.ts'
import { event, invocation, message, redelivered } from '../batch/sqs-event.ts'
import { identifiers } from '../batch/set-up.ts'
const endpoint = inject('dynamoDbEndpoint')
const tableName = await createTable(localClient(endpoint))
let rate = 0
const CODES = ['ThrottlingError', 'ProvisionedThroughputExceeded', 'TransactionConflict', 'InternalServerError', 'ValidationError', 'Odd', undefined]
const pick = <T>(a: T[]) => a[Math.floor(Math.random() * a.length)]!
const hit = (r = rate) => Math.random() < r
let counts: Record<string, number> = {}
const note = (k: string) => { counts[k] = (counts[k] ?? 0) + 1 }
function faulty() {
  const client = localClient(endpoint)
  client.middlewareStack.add((next, { commandName }) => async (args: any) => {
    const err = (name: string, status?: number) => { note('err ' + commandName + name); return Object.assign(new Error('x'), { name, $metadata: { httpStatusCode: status } }) }
    note(commandName!)
    if (hit(rate / 3)) { const after = hit(0.5); if (after) await next(args).catch(() => 0); throw err(...pick<[string, number | undefined]>([['TimeoutError', undefined], ['InternalServerError', 500], ['ThrottlingException', 400]])) }
    if (commandName === 'BatchExecuteStatementCommand') {
      const S = args.input.Statements as any[]
      const fates = S.map(() => hit(rate) ? { code: pick(CODES), applied: hit(0.5) } : undefined)
      const sendable = S.filter((_, i) => !fates[i] || fates[i]!.applied)
      const out: any = sendable.length ? await next({ ...args, input: { ...args.input, Statements: sendable } }) : undefined
      const left = [...(out?.output.Responses ?? [])]
      let R: any[] = S.map((_, i) => { const f = fates[i]; const own = !f || f.applied ? left.shift() : undefined; if (own?.Error?.Item && hit(0.3)) delete own.Error.Item; return f ? { Error: { Code: f.code, Message: '' } } : own })
      if (hit(rate / 3)) R = R.slice(0, Math.floor(Math.random() * R.length))
      if (hit(rate / 3)) R.push({}, {})
      return { response: out?.response ?? {}, output: { $metadata: {}, Responses: R } }
    }
    const r: any = await next(args)
    if (commandName === 'BatchGetCommand' && hit()) {
      const items = r.output.Responses?.[tableName] ?? []
      if (items.length > 1) { const [x] = items.splice(0, 1); r.output.UnprocessedKeys = { [tableName]: { Keys: [{ pk: x.pk, sk: x.sk }], ConsistentRead: true } } }
    }
    return r
  }, { step: 'initialize' })
  return client
}
test('fuzz', async () => {
  const end = Date.now() + 100_000
  let rounds = 0
  while (Date.now() < end) {
    rounds++
    const namespace = `n${crypto.randomUUID()}`
    const running = new Map<string, AbortSignal>(), runs = new Map<string, number>(), done = new Set<string>(), bad: string[] = []
    const opIds = new Map<string, string>()
    const fifo = hit(0.3), slow = hit(0.5)
    rate = pick([0.05, 0.2, 0.5])
    const consumer = () => {
      const idempotency = createIdempotency({ store: dynamoStore({ tableName, client: faulty() }), namespace, leaseSeconds: 2, clockSkewSeconds: 0.3, maxCrashes: 50 } as never)
      return batchHandler<{ id: string }>({ idempotency, onFailure: () => 0, concurrency: pick([2, 10, 30]) }, async ({ body: { id } }, op) => {
        opIds.set(id, op.id)
        if (running.has(id)) { if (!running.get(id)!.aborted) bad.push('overlap ' + id + ' attempt ' + op.attempt); else note('late overlap') }
        if (done.has(id)) bad.push('rerun ' + id)
        running.set(id, op.signal); runs.set(id, (runs.get(id) ?? 0) + 1)
        if (hit(0.3)) await op.step('s', async () => 1)
        if (slow) await new Promise((r) => setTimeout(r, Math.random() * 30))
        running.delete(id)
        if (hit(0.2)) throw new Error('later')
        return { id }
      })
    }
    const ms = Array.from({ length: 30 }, (_, i) => message(`m${i}`, fifo ? { group: `g${i % 7}` } : {}))
    let left = ms
    const warn = console.warn; console.warn = (m) => note('WARN ' + m)
    const consumers = [consumer(), consumer(), consumer()]
    for (let d = 0; left.length && d < 60; d++) {
      if (d > 6) rate = 0
      const sets = d < 4 ? consumers : consumers.slice(0, 1)
      const failedBy = await Promise.all(sets.map(async (c) => {
        const failed = new Set(identifiers(await c(redelivered(event(...left)), invocation(() => 8_000))))
        for (const m of left) if (!failed.has(m.messageId)) {
          done.add(m.messageId)
          const { Item } = await localClient2.send(new GetItemCommand({ TableName: tableName, Key: { pk: { S: opIds.get(m.messageId)! }, sk: { S: 'op' } }, ConsistentRead: true }))
          if (Item?.status?.S !== 'COMPLETED') bad.push(`done but ${Item?.status?.S} ${m.messageId}`)
        }
        return failed
      }))
      left = left.filter((m) => failedBy.every((f) => f.has(m.messageId)))
      if (d > 6 && left.length) await new Promise((r) => setTimeout(r, 700))
    }
    console.warn = warn
    expect({ bad, left: left.map((m) => m.messageId), rounds, ran: runs.size }).toEqual({ bad: [], left: [], rounds, ran: 30 })
  }
  console.log(rounds, JSON.stringify(counts))
}, 200_000)
const localClient2 = localClient(endpoint)
