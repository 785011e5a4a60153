import { type BatchHandler, batchHandler, type RecordFailure, s3Notification, sqs } from '../../lib/batch/index.ts'
import { type Idempotency, PermanentError } from '../../lib/index.ts'

/** One line of a price list. */
export interface Price {
  readonly sku: string
  readonly cents: number
}

/** What {@link priceImport} works with. */
export interface PriceImportOptions {
  readonly idempotency: Idempotency
  /** The text of an object. */
  readonly read: (bucket: string, key: string) => Promise<string>
  /** Writes prices, but for those that a newer list has written. Safe to repeat. */
  readonly save: (prices: readonly Price[], version: string) => Promise<void>
  /** @defaultValue `console.error` */
  readonly onFailure?: (failure: RecordFailure) => void
}

/** A record holds at most 40 steps; a list of any length has fewer chunks than that. */
const MAX_CHUNKS = 30
const LEAST_CHUNK = 25
/** As long as S3's sequencers get. */
const SEQUENCER_LENGTH = 32

/**
 * Imports price lists that are uploaded to a bucket whose notifications go into a queue. A list that was imported half
 * when the function died is continued at the chunk it had come to. Lists that arrive late overwrite nothing.
 */
export function priceImport({ idempotency, read, save, ...more }: PriceImportOptions): BatchHandler {
  return batchHandler(
    { idempotency, source: sqs({ unwrap: s3Notification() }), ...more },
    async ({ body: { s3 } }, { step }) => {
      const key = decodeURIComponent(s3.object.key.replaceAll('+', ' '))
      const prices = pricesIn(await read(s3.bucket.name, key))
      // Sequencers of one object compare as text, once the shorter is filled up with zeros on the right.
      const version = s3.object.sequencer.padEnd(SEQUENCER_LENGTH, '0')
      const size = Math.max(LEAST_CHUNK, Math.ceil(prices.length / MAX_CHUNKS))
      for (let start = 0; start < prices.length; start += size) {
        await step(`rows-${start}`, () => save(prices.slice(start, start + size), version))
      }
      return { imported: prices.length }
    },
  )
}

/** @throws PermanentError naming the line: the same file is wrong the next time, too. */
function pricesIn(csv: string): Price[] {
  const lines = csv.split(/\r?\n/).filter((line) => line !== '')
  return lines.map((line, index) => {
    const [sku = '', cents = ''] = line.split(',')
    if (sku === '' || !/^\d{1,9}$/.test(cents)) throw new PermanentError(`Line ${index + 1} is no price: "${line}".`)
    return { sku, cents: Number(cents) }
  })
}
