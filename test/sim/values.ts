import { createCipheriv, createHash } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import zlib from 'node:zlib'
import type { Context, SQSRecord } from 'aws-lambda'
import type { Parts, StoredValue, ValueCodec, ValueContext } from '../../lib/index.ts'
import type { MemoryStore } from '../../lib/memory/index.ts'
import type { Network } from './network.ts'
import type { Process } from './process.ts'
import type { Subject } from './subject.ts'

/**
 * Lets brotli answer at once: in a thread of its own it would answer when it likes, out of the scheduler's sight.
 * To be called before the library is loaded.
 */
export function answerAtOnce(): void {
  zlib.brotliCompress = ((bytes: Buffer, options: object, done: (error: null, packed: Buffer) => void) =>
    done(null, zlib.brotliCompressSync(bytes, options))) as typeof zlib.brotliCompress
  zlib.brotliDecompress = ((bytes: Buffer, done: (error: null, text: Buffer) => void) =>
    done(null, zlib.brotliDecompressSync(bytes))) as typeof zlib.brotliDecompress
  syncBuiltinESMExports()
}

/** Has everything loaded that the library loads when it is first needed: loading takes its own time, too. */
export async function loadAll({ createIdempotency, memoryStore, batchHandler, StoreError }: Subject): Promise<void> {
  const store = memoryStore()
  const idempotency = createIdempotency({ store, namespace: 'loading', relay: true })
  const queueUrl = 'https://sqs.eu-central-1.amazonaws.com/111122223333/loading'
  const large = new Map([[1, bulkOf('loading', 2_000)]])
  for (let delivery = 0; delivery < 2; delivery++) await idempotency.run({ key: 'large', input: 1 }, () => large)
  await idempotency.run({ key: 'committed', input: 1 }, async ({ step, commit }) => {
    await step('one', () => 1)
    return commit(1, { receipt: 1, messages: [{ to: { queueUrl }, body: '1' }] })
  })
  await idempotency.receipts({ key: 'committed' })
  await idempotency.settle({ key: 'committed' }, { rerun: true })
  await idempotency.acquire('admitted', { ttlSeconds: 1 })
  const suspending = batchHandler(
    { idempotency, key: () => 'suspended', redrive: { queueUrl } },
    (_record, operation) => operation.delay({ seconds: 1 }),
  )
  await suspending({ Records: [recordOf('{}')] }, {} as Context)
  await idempotency.signal({ key: 'suspended' }, 1)
  const away = async () => {
    throw new StoreError('away', { retryable: false })
  }
  const open = createIdempotency({
    store: { ...store, put: away, get: away },
    namespace: 'loading',
    onStoreError: 'open',
  })
  await open.run({ key: 'open', input: 1 }, ({ step }) => step('one', () => 1))
}

function recordOf(body: string): SQSRecord {
  return {
    messageId: 'm',
    receiptHandle: 'r',
    body,
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: '0',
      SenderId: 'sim',
      ApproximateFirstReceiveTimestamp: '0',
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:eu-central-1:111122223333:loading',
    awsRegion: 'eu-central-1',
  }
}

/** So many characters that cannot be compressed much, the same for the same text. */
export function bulkOf(text: string, length: number): string {
  const key = createHash('sha256').update(text).digest()
  const stream = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  return stream.update(Buffer.alloc(Math.ceil((length * 3) / 4))).toString('base64')
}

/** The pieces of large values: what TTL deletes of them, and what is in them for whoever watches. */
export interface Pieces {
  put(parts: Parts): Promise<void>
  get(partsId: string, count: number): Promise<readonly (Uint8Array | undefined)[]>
  expire(nowMs: number, isHit: () => boolean): void
  /** A stored value as the text that it was. */
  textOf(stored: StoredValue): string
}

export function createPieces(memory: MemoryStore): Pieces {
  const written = new Map<string, { readonly bytes: Uint8Array; readonly expiresAt: number | undefined }>()
  const gone = new Set<string>()

  function textOf(stored: StoredValue): string {
    switch (stored.kind) {
      case 'json':
      case 'text':
        return stored.text
      case 'brotli':
        return zlib.brotliDecompressSync(stored.bytes).toString()
      case 'coded':
        return plainText(stored.bytes)
      case 'parts': {
        const bytes = written.get(stored.partsId)?.bytes
        if (bytes === undefined) return `${stored.partsId} was never written`
        return stored.codec === undefined ? zlib.brotliDecompressSync(bytes).toString() : plainText(bytes)
      }
    }
  }

  return {
    async put(parts) {
      await memory.putParts(parts)
      written.set(parts.partsId, { bytes: Buffer.concat(parts.parts), expiresAt: parts.expiresAt })
    },
    async get(partsId, count) {
      if (gone.has(partsId)) return Array.from({ length: count }, () => undefined)
      return memory.getParts(partsId, count)
    },
    expire(nowMs, isHit) {
      for (const [partsId, { expiresAt }] of written) {
        if (expiresAt !== undefined && expiresAt <= Math.floor(nowMs / 1000) && isHit()) gone.add(partsId)
      }
    },
    textOf,
  }
}

const HEADER_BYTES = 4

/** What the simulated service made of it: the context's length, the context, the form, the content. */
function plainText(coded: Uint8Array): string {
  const bytes = Buffer.from(coded)
  const form = HEADER_BYTES + bytes.readUInt32BE(0)
  const content = bytes.subarray(form + 1)
  return bytes[form] === 2 ? zlib.brotliDecompressSync(content).toString() : content.toString()
}

/** A service far away that encodes values and says of each whose it is. It can be slow, away, or answer nobody. */
export function codecOverNetwork(process: Process, network: Network, misplaced: (detail: string) => void): ValueCodec {
  const failure = {
    mayRepeat: true,
    lost: () => new Error('ETIMEDOUT: the codec has not answered'),
    throttled: () => new Error('503 from the codec'),
  }
  const nameOf = ({ associatedData }: ValueContext) => Buffer.from(associatedData)
  return {
    name: 'sim',
    refusesPlain: true,
    encode: (bytes, context) =>
      network.call(
        process,
        `encode ${context.purpose}`,
        async () => {
          const name = nameOf(context)
          const header = Buffer.alloc(HEADER_BYTES)
          header.writeUInt32BE(name.length)
          return Buffer.concat([header, name, bytes])
        },
        failure,
      ),
    decode: (bytes, context) =>
      network.call(
        process,
        `decode ${context.purpose}`,
        async () => {
          const coded = Buffer.from(bytes)
          const end = HEADER_BYTES + coded.readUInt32BE(0)
          const name = coded.subarray(HEADER_BYTES, end)
          if (!name.equals(nameOf(context))) misplaced(`${name} was read as ${nameOf(context)}`)
          return coded.subarray(end)
        },
        failure,
      ),
  }
}
