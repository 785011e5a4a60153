// A fresh process that loads a bundle and invokes its handler once, as a cold start does.
const [, , bundle = '', event = '', base = ''] = process.argv
if (base !== '') await import(base)
const context = { awsRequestId: crypto.randomUUID(), functionName: 'orders', getRemainingTimeInMillis: () => 30_000 }

const startedAt = performance.now()
const { handler } = (await import(bundle)) as { handler(event: unknown, context: unknown): Promise<unknown> }
const loadedAt = performance.now()
const answer = await handler(JSON.parse(event), context)
const answeredAt = performance.now()
process.stdout.write(JSON.stringify({ importMs: loadedAt - startedAt, firstMs: answeredAt - loadedAt, answer }), () =>
  process.exit(),
)
