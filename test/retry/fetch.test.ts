import { Readable } from 'node:stream'
import { afterEach, describe, expect, expectTypeOf, test, vi } from 'vitest'
import { RETRY_DEFAULTS, type RetryingFetchPolicy, retry, retryBudget, retryingFetch } from '../../lib/retry/index.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { type Answer, type ScriptedServer, startScriptedServer } from './http-server.ts'
import { instantClock } from './instant-clock.ts'

let server: ScriptedServer
afterEach(() => server.stop())

async function setUp(script: readonly Answer[], policy: RetryingFetchPolicy = {}) {
  server = await startScriptedServer(script)
  const clock = instantClock()
  const wait = (ms: number, signal?: AbortSignal) => (ms === LIMIT_MS ? untilAborted(signal) : clock.wait(ms, signal))
  return {
    url: server.url,
    clock,
    fetch: retryingFetch({ clock: { now: clock.now, wait }, random: () => 0, ...policy }),
  }
}

/** The server is real, so the time limit of an attempt must not be over at once like the waits between attempts. */
const LIMIT_MS = RETRY_DEFAULTS.attemptSeconds * 1000
const untilAborted = (signal?: AbortSignal) =>
  new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }))

const methods = () => server.requests.map(({ method }) => method)
const keyed = { 'idempotency-key': 'order-1' }

describe('retryingFetch retries', () => {
  test.each<Answer>([{ status: 429 }, { status: 502 }, { status: 503 }, { status: 504 }, 'reset'])(
    '%o and answers the response that came in the end',
    async (answer) => {
      const { fetch, url } = await setUp([answer, answer])
      const response = await fetch(url)
      expect([response.status, await response.text()]).toEqual([200, 'done'])
      expect(server.requests).toHaveLength(3)
    },
  )

  test.each([400, 401, 404, 408, 409, 422, 500])('never %i', async (status) => {
    const { fetch, url } = await setUp([{ status, headers: { 'retry-after': '0' }, body: 'why' }])
    const response = await fetch(url)
    expect([response.status, await response.text()]).toEqual([status, 'why'])
    expect(server.requests).toHaveLength(1)
  })

  test('a refused connection', async () => {
    const { fetch, url } = await setUp([])
    await server.stop()
    await expect(fetch(url)).rejects.toMatchObject({ code: 'RETRY_GAVE_UP', attempts: 3 })
    server = await startScriptedServer([])
  })

  test('a server that hangs, after the time limit of the attempt', async () => {
    server = await startScriptedServer(['hang'])
    const fetch = retryingFetch({ attemptSeconds: 0.2, baseDelaySeconds: 0 })
    expect((await fetch(server.url)).status).toBe(200)
    expect(server.requests).toHaveLength(2)
  })
})

describe('Retry-After is honoured', () => {
  test('in seconds, beyond the longest delay of the policy', async () => {
    const { fetch, url, clock } = await setUp([
      { status: 503, headers: { 'retry-after': '6' } },
      { status: 429, headers: { 'retry-after': '2' } },
    ])
    await fetch(url)
    expect(clock.waits).toEqual([6_000, 2_000])
  })

  test.each([
    ['as HTTP writes it today', 'Wed, 21 Oct 2015 07:28:08 GMT'],
    ['as RFC 850 wrote it', 'Wednesday, 21-Oct-15 07:28:08 GMT'],
    ['as asctime writes it', 'Wed Oct 21 07:28:08 2015'],
  ])('as a date %s, by the clock of the server', async (_form, retryAfter) => {
    const date = 'Wed, 21 Oct 2015 07:28:00 GMT'
    const { fetch, url, clock } = await setUp([{ status: 503, headers: { date, 'retry-after': retryAfter } }])
    await fetch(url)
    expect(clock.waits).toEqual([8_000])
  })

  test.each(['soon', '-5', '1.5', '', '2015-10-21'])('not when it cannot be read: "%s"', async (retryAfter) => {
    const { fetch, url, clock } = await setUp([{ status: 503, headers: { 'retry-after': retryAfter } }])
    await fetch(url)
    expect(clock.waits).toEqual([0])
  })

  test('by giving the response back at once when there is not so much time', async () => {
    const { fetch, url, clock } = await setUp([{ status: 503, headers: { 'retry-after': '120' }, body: 'down' }])
    const response = await fetch(url)
    expect([response.status, await response.text()]).toEqual([503, 'down'])
    expect(clock.waits).toEqual([])
  })
})

describe('when it gives up', () => {
  test('over a response, it is that response, its body unread', async () => {
    const down: Answer = { status: 503, body: 'down' }
    const { fetch, url } = await setUp([down, down, { status: 503, body: 'still down' }])
    expect(await (await fetch(url)).text()).toBe('still down')
    expect(server.requests).toHaveLength(3)
  })

  test('over an error, it names every failure', async () => {
    const { fetch, url } = await setUp([{ status: 503 }, 'reset', 'reset'])
    const error: unknown = await fetch(url).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ reason: 'attempts', attempts: 3, cause: { message: 'fetch failed' } })
    expect(error).toMatchObject({
      errors: [{ message: 'HTTP 503 Service Unavailable' }, { message: 'fetch failed' }, { message: 'fetch failed' }],
    })
  })

  test('for want of a budget, it has called once', async () => {
    const budget = retryBudget({ maxRetries: 1, retriesPerCall: 0 })
    budget.take()
    const { fetch, url } = await setUp([{ status: 503 }], { budget })
    expect((await fetch(url)).status).toBe(503)
    expect(server.requests).toHaveLength(1)
  })
})

describe('what is safe to send twice', () => {
  test.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'put'])('%s is', async (method) => {
    const { fetch, url } = await setUp([{ status: 503 }])
    expect((await fetch(url, { method })).status).toBe(200)
  })

  test.each(['POST', 'PATCH'])('%s is not, but with an Idempotency-Key', async (method) => {
    const { fetch, url } = await setUp([{ status: 503 }, 'reset', { status: 503 }])
    expect((await fetch(url, { method, body: 'x' })).status).toBe(503)
    await expect(fetch(url, { method, body: 'x' })).rejects.toThrow('fetch failed')
    await expect(fetch(url, { method, headers: { 'idempotency-key': '' } }).then(({ status }) => status)).resolves.toBe(
      503,
    )
    expect(server.requests).toHaveLength(3)
    await server.stop()

    const withKey = await setUp([{ status: 503 }, 'reset'])
    const response = await withKey.fetch(withKey.url, { method, body: 'x', headers: { 'Idempotency-Key': 'order-1' } })
    expect(response.status).toBe(200)
    expect(server.requests.map(({ headers, body }) => [headers['idempotency-key'], body])).toEqual(
      Array.from({ length: 3 }, () => ['order-1', 'x']),
    )
  })

  test('is read from a Request, and from what replaces its parts', async () => {
    const { fetch, url } = await setUp([{ status: 503 }, { status: 200 }, { status: 503 }, { status: 503 }])
    expect((await fetch(new Request(url, { method: 'POST', headers: keyed }))).status).toBe(200)
    expect((await fetch(new Request(url, { method: 'POST', headers: keyed }), { headers: {} })).status).toBe(503)
    expect((await fetch(new Request(url), { method: 'POST' })).status).toBe(503)
    expect(methods()).toEqual(['POST', 'POST', 'POST', 'POST'])
  })

  test('is the user’s to say', async () => {
    const isRepeatable = vi.fn<NonNullable<RetryingFetchPolicy['isRepeatable']>>(({ method }) => method === 'POST')
    const { fetch, url } = await setUp([{ status: 503 }, { status: 200 }, { status: 503 }], { isRepeatable })
    expect((await fetch(url, { method: 'post' })).status).toBe(200)
    expect((await fetch(new URL(url))).status).toBe(503)
  })
})

describe('a body', () => {
  const bytes = new TextEncoder().encode('a=1')
  test.each<[string, NonNullable<RequestInit['body']>]>([
    ['text', 'a=1'],
    ['bytes', bytes],
    ['a buffer', bytes.buffer],
    ['a Blob', new Blob(['a=1'])],
    ['search parameters', new URLSearchParams({ a: '1' })],
  ])('of %s is sent whole every time', async (_name, body) => {
    const { fetch, url } = await setUp([{ status: 503 }, 'reset'])
    expect((await fetch(url, { method: 'PUT', body })).status).toBe(200)
    expect(server.requests.map((request) => request.body)).toEqual(['a=1', 'a=1', 'a=1'])
  })

  test('of a form is sent whole every time', async () => {
    const form = new FormData()
    form.set('file', new Blob(['contents']), 'a.txt')
    const { fetch, url } = await setUp([{ status: 503 }])
    expect((await fetch(url, { method: 'PUT', body: form })).status).toBe(200)
    expect(server.requests.map(({ body }) => body.includes('contents'))).toEqual([true, true])
  })

  const streams: [string, (url: string) => [string | Request, RequestInit?]][] = [
    ['a web stream', (url) => [url, { method: 'PUT', body: new Blob(['x']).stream(), duplex: 'half' }]],
    ['a stream of Node', (url) => [url, { method: 'PUT', body: Readable.from(['x']) as never, duplex: 'half' }]],
    ['a Request’s', (url) => [new Request(url, { method: 'PUT', body: 'x' })]],
  ]
  test.each(streams)('that is %s is refused before anything is sent', async (_name, request) => {
    const { fetch, url } = await setUp([])
    const refused = fetch(...request(url))
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    await expect(refused).rejects.toThrow('retryingFetch cannot send a body twice that is a stream.')
    expect(server.requests).toHaveLength(0)
  })

  test('that is a stream is sent once where nothing is repeated', async () => {
    const { fetch, url } = await setUp([{ status: 503 }])
    const response = await fetch(url, { method: 'POST', body: new Blob(['x']).stream(), duplex: 'half' })
    expect(response.status).toBe(503)
    expect(server.requests.map(({ body }) => body)).toEqual(['x'])
  })
})

describe('connections', () => {
  test('of discarded responses are let go, however long their bodies are', async () => {
    const { fetch, url } = await setUp(['endless-503', 'endless-503'])
    const response = await fetch(url)
    await response.text()
    await vi.waitFor(async () => expect(await server.openConnections()).toBeLessThanOrEqual(1))
  })
})

describe('a signal', () => {
  test.each(['of the call', 'of the policy', 'of a Request'])('%s ends the wait at once', async (whose) => {
    const { url } = await setUp([{ status: 503 }])
    const abort = new AbortController()
    const { signal } = abort
    const clock = fakeClock()
    const fetch = retryingFetch({ clock, random: () => 1, ...(whose === 'of the policy' && { signal }) })
    const sent =
      whose === 'of the call'
        ? fetch(url, { signal })
        : fetch(whose === 'of a Request' ? new Request(url, { signal }) : url)
    await vi.waitFor(() => expect(server.requests).toHaveLength(1))
    abort.abort(new Error('enough'))
    await expect(sent).rejects.toThrow('enough')
    expect(server.requests).toHaveLength(1)
  })

  test('of the call still ends the reading of the body', async () => {
    const { url } = await setUp(['endless-503'])
    const abort = new AbortController()
    const response = await retryingFetch({ maxAttempts: 1 })(url, { signal: abort.signal })
    abort.abort(new Error('enough'))
    await expect(response.text()).rejects.toThrow('enough')
  })

  test('of the time limit does not end the reading of the body', async () => {
    const { url } = await setUp([{ status: 200, body: 'x'.repeat(1_000_000) }])
    const clock = fakeClock()
    const response = await retryingFetch({ clock })(url)
    clock.advance(3_600_000)
    expect(await response.text()).toHaveLength(1_000_000)
  })
})

describe('inside of retry', () => {
  test('it makes no more calls than the outer one allows, and its last response is a value like any other', async () => {
    const { fetch, url } = await setUp([{ status: 503 }, { status: 503 }, { status: 503 }], { maxAttempts: 3 })
    const outer = { clock: instantClock(), random: () => 0, maxAttempts: 3 }
    const work = vi.fn(async () => {
      const { status } = await fetch(url)
      if (status !== 200) throw Object.assign(new Error('down'), { status })
    })
    await expect(retry(work, outer)).rejects.toMatchObject({ message: 'down' })
    expect(server.requests).toHaveLength(3)
  })
})

describe('its options', () => {
  test('are those of a policy and two more', async () => {
    await setUp([])
    expect(() => retryingFetch({ methods: ['POST'] } as never)).toThrow(
      /^retryingFetch has no option "methods"\. It takes: maxAttempts, .*, isRepeatable, fetch\.$/,
    )
    expect(() => retryingFetch({ fetch: 1 } as never)).toThrow('fetch must be a function; got 1.')
    expect(() => retryingFetch({ isRepeatable: true } as never)).toThrow('isRepeatable must be a function; got true.')
  })

  test('take another fetch', async () => {
    await setUp([])
    const fetch = vi.fn(async () => new Response('mine'))
    expect(await (await retryingFetch({ fetch })('http://localhost/')).text()).toBe('mine')
  })

  test('make a function of fetch’s own type', async () => {
    await setUp([])
    expectTypeOf(retryingFetch()).toEqualTypeOf<typeof globalThis.fetch>()
  })
})
