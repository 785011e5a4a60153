import { type Price, priceImport } from '../../../functions/examples/s3-ingestion.ts'
import { createIdempotency } from '../../../lib/index.ts'
import { redeliver, type S3Change, s3Event, sqsEvent } from '../../../lib/testing/index.ts'
import type { Stage } from './stage.ts'

const LINES = 100

/** A price list that breaks off in the middle, comes again, and one that comes late. */
export async function playS3Ingestion({ store, clock, scene, saw }: Stage): Promise<void> {
  const objects = new Map<string, string>()
  const table = new Map<string, { readonly cents: number; readonly version: string }>()
  let saves = 0
  let failsAt: number | undefined
  const handler = priceImport({
    idempotency: createIdempotency({ store, clock, namespace: 'prices' }),
    onFailure: () => undefined,
    read: async (_bucket, key) => objects.get(key) ?? '',
    async save(prices: readonly Price[], version) {
      saves += 1
      if (saves === failsAt) throw new Error('The table is busy.')
      for (const { sku, cents } of prices) {
        if ((table.get(sku)?.version ?? '') < version) table.set(sku, { cents, version })
      }
    },
  })
  const list = (cents: number) => Array.from({ length: LINES }, (_, line) => `sku-${line},${cents}`).join('\n')
  const upload = (change: S3Change) =>
    redeliver(handler, sqsEvent({ body: s3Event(change) }), { maxReceiveCount: 3, clock })

  scene(`A list of ${LINES} prices in four chunks; the third cannot be written at first.`)
  objects.set('shop/May list.csv', list(500))
  failsAt = 3
  const may = { key: 'shop/May list.csv', sequencer: '0066A1' }
  const first = await upload(may)
  saw(`deliveries: ${first.deliveries.length}, prices: ${table.size}`, table.size === LINES)
  saw(`chunks written: ${saves}, one of them tried twice`, saves === 5)

  scene('S3 sends the notification again.')
  await upload(may)
  saw(`chunks written: ${saves}`, saves === 5)

  scene('A newer list, and then the notification of an older one.')
  objects.set('shop/May list.csv', list(700))
  await upload({ key: 'shop/May list.csv', sequencer: '0066A3' })
  objects.set('shop/May list.csv', list(600))
  await upload({ key: 'shop/May list.csv', sequencer: '0066A2' })
  const cents = new Set([...table.values()].map((price) => price.cents))
  saw(`prices in the table: ${[...cents].join(', ')}`, cents.size === 1 && cents.has(700))

  scene('A list with a line that is no price.')
  objects.set('shop/broken.csv', 'sku-1,12\nsku-2,cheap')
  const broken = await upload({ key: 'shop/broken.csv' })
  saw(`dead letters: ${broken.deadLetters.length}`, broken.deadLetters.length === 1)
}
