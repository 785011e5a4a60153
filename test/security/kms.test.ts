import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { KMSClient } from '@aws-sdk/client-kms'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createIdempotency, type Idempotency, type ValueCodec } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { codeOf, ORDER } from '../core/harness.ts'
import { type KmsStandIn, startKms } from './kms-stand-in.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Inside the checkout, so that the block finds its packages. */
const WORKSPACE = `${ROOT}.local/security-blocks-${process.pid}`

/** The codec as docs/security.md shows it. */
const { kmsCodec } = await (async () => {
  const guide = readFileSync(`${ROOT}docs/security.md`, 'utf8')
  const [, code = ''] = /^```ts\n((?:(?!^```).)*export function kmsCodec.*?)^```/ms.exec(guide) ?? []
  mkdirSync(WORKSPACE, { recursive: true })
  writeFileSync(
    `${WORKSPACE}/kms.ts`,
    code.replaceAll(/'lambda-once(\/\w+)?'/g, (_, entry = '') => `'${ROOT}lib${entry}/index.ts'`),
  )
  process.env.IDEMPOTENCY_TABLE = 'operations'
  const module: unknown = await import(`${WORKSPACE}/kms.ts`)
  return module as { kmsCodec(kms: KMSClient, keyId: string): ValueCodec }
})()

let kms: KmsStandIn
const store = memoryStore()

/** A process of its own: it has no data key yet. */
function process1(): Idempotency {
  const client = new KMSClient({ endpoint: kms.endpoint, maxAttempts: 1 })
  return createIdempotency({ store, namespace: 'kms', codec: kmsCodec(client, 'alias/values') })
}
const at = (key: string) => ({ ...ORDER, key })
const never = () => {
  throw new Error('ran again')
}

beforeEach(async () => {
  kms = await startKms()
})
afterEach(async () => {
  vi.useRealTimers()
  for (const { id } of store.records()) store.remove(id)
  await kms[Symbol.asyncDispose]()
})
afterAll(() => rmSync(WORKSPACE, { recursive: true, force: true }))

test('one data key encodes many values, and another process decodes them with one call', async () => {
  const first = process1()
  for (const key of ['a', 'b', 'c']) await first.run(at(key), () => `value of ${key}`)
  expect(kms.calls).toEqual(['GenerateDataKey'])
  expect(JSON.stringify(store.records())).not.toContain('value of')
  const second = process1()
  for (const key of ['a', 'b', 'c']) expect((await second.run(at(key), never)).value).toBe(`value of ${key}`)
  expect(kms.calls).toEqual(['GenerateDataKey', 'Decrypt'])
})

test('a data key is used for five minutes', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { run } = process1()
  await run(at('a'), () => 1)
  vi.advanceTimersByTime(299_000)
  await run(at('b'), () => 1)
  expect(kms.calls).toEqual(['GenerateDataKey'])
  vi.advanceTimersByTime(2_000)
  await run(at('c'), () => 1)
  expect(kms.calls).toEqual(['GenerateDataKey', 'GenerateDataKey'])
})

test('a key that cannot be had is asked for again, and nothing is run meanwhile', async () => {
  await process1().run(at('a'), () => 'done')
  const second = process1()
  kms.isDown = true
  expect(await codeOf(second.run(at('a'), never))).toBe('OUTCOME_UNREADABLE')
  kms.isDown = false
  expect((await second.run(at('a'), never)).value).toBe('done')
})

test('a value in the place of another is refused', async () => {
  const { run } = process1()
  await run(at('a'), () => 'mine')
  await run(at('b'), () => 'theirs')
  const [a, b] = store.records()
  await store.put({ ...a!, outcome: b!.outcome!, rev: a!.rev + 1 }, { kind: 'seen', token: a!.token, rev: a!.rev })
  expect(await codeOf(run(at('a'), never))).toBe('OUTCOME_UNREADABLE')
})
