import { createServer } from 'node:http'
import { expect, inject, onTestFinished, test } from 'vitest'
import { listenOnLoopback } from '../../infra/local/engines/loopback-server.ts'
import { startLatencyProxy } from './latency-proxy.ts'
import { SIDE_NAMES } from './sides/side.ts'
import { startSide } from './sides/start.ts'

test.each(SIDE_NAMES)('%s does its tasks in a process of its own', async (name) => {
  const side = await startSide(name, { endpoint: inject('dynamoDbEndpoint') })
  onTestFinished(() => side.stop())

  const { first, duplicate } = await side.metered('single', { run: 'a', count: 3, concurrency: 2 })
  expect(first).toMatchObject({ requests: 6, writeUnits: 6, readUnits: 0 })
  expect(duplicate).toMatchObject({ requests: 3, writeUnits: 3, readUnits: 0 })

  const { first: timed } = await side.do('single', { run: 'b', count: 3, concurrency: 1 })
  expect(timed.requests).toBe(0)
  expect(timed.wallMs).toBeGreaterThan(0)
  expect(timed.cpuMs).toBeGreaterThan(0)
})

test.each(['lambda-once', 'powertools'] as const)(
  '%s pays for what is new in a batch, and for duplicates',
  async (name) => {
    const side = await startSide(name, { endpoint: inject('dynamoDbEndpoint') })
    onTestFinished(() => side.stop())
    const { none, half, all, redelivered } = await side.metered('batches', { run: 'a', size: 10, repeat: 2 })
    const onceMore = name === 'powertools' ? 20 : 0
    expect([none, half, all, redelivered].map(({ writeUnits }) => writeUnits)).toEqual([40, 30, 20, onceMore])
  },
)

test('Powertools fails past 400 KB, lambda-once does not', async () => {
  const endpoint = inject('dynamoDbEndpoint')
  const input = { run: 'a', bytes: 600_000, text: 'json', count: 1 } as const
  const theirs = await startSide('powertools', { endpoint })
  onTestFinished(() => theirs.stop())
  // Counting ends with a task that fails, too.
  for (const run of ['a', 'b']) {
    expect(await theirs.metered('results', { ...input, run })).toEqual({ failure: expect.stringContaining('size') })
  }
  const ours = await startSide('lambda-once', { endpoint })
  onTestFinished(() => ours.stop())
  expect(await ours.do('results', input)).toHaveProperty('duplicate')
})

test('the proxy passes requests on, whole and in order', async () => {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    response.end(Buffer.concat(chunks))
  })
  const { endpoint, stop } = await listenOnLoopback(server)
  const proxy = await startLatencyProxy(endpoint, 1)
  onTestFinished(async () => {
    await proxy.stop()
    await stop()
  })
  const body = Buffer.alloc(300_000, 'abcdefg')
  const answers = await Promise.all(
    Array.from({ length: 3 }, () =>
      fetch(proxy.endpoint, { method: 'POST', body }).then((answer) => answer.arrayBuffer()),
    ),
  )
  for (const answer of answers) expect(Buffer.from(answer).equals(body)).toBe(true)
})
