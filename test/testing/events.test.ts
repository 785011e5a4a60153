import { describe, expect, test } from 'vitest'
import { batchHandler } from '../../lib/batch/index.ts'
import { idempotent } from '../../lib/http/index.ts'
import { readRequest } from '../../lib/http/request/event.ts'
import { principalOf } from '../../lib/http/request/principal.ts'
import { createIdempotency } from '../../lib/index.ts'
import {
  albEvent,
  functionUrlEvent,
  type HttpEventOptions,
  httpApiEvent,
  lambdaContext,
  memoryStore,
  restApiEvent,
  sqsEvent,
} from '../../lib/testing/index.ts'

const albMultiEvent = (options: Parameters<typeof albEvent>[0] = {}) => albEvent({ ...options, multiValue: true })
const SOURCES = { restApiEvent, httpApiEvent, functionUrlEvent, albEvent, albMultiEvent }
const EACH = Object.entries(SOURCES) as [keyof typeof SOURCES, (options?: HttpEventOptions) => object][]

describe.each(EACH)('%s', (name, make) => {
  test('is read as the request that it describes', () => {
    const event = make({
      method: 'patch',
      path: '/orders/7',
      key: 'k-7',
      query: { sort: ['a b', 'c'] },
      headers: { 'X-Tenant': 'acme' },
      body: { cents: 100 },
    })
    const request = readRequest(event)
    expect(request).toMatchObject({ method: 'PATCH', path: '/orders/7', body: '{"cents":100}', isBase64Encoded: false })
    // A REST API says each header in two places.
    const header = (name: string) => [...new Set(request.header(name))]
    expect(header('idempotency-key')).toEqual(['k-7'])
    expect(header('x-tenant')).toEqual(['acme'])
    expect(header('content-type')).toEqual(['application/json'])
    expect(request.query.length).toBeGreaterThan(0)
  })

  test('goes through a handler, and its repetition is a replay', async () => {
    const idempotency = createIdempotency({ store: memoryStore(), namespace: 'orders' })
    const scope = name.startsWith('alb') ? { scope: () => 'shop' } : {}
    const handler = idempotent({ idempotency, ...scope }, async (_event: object) => ({ statusCode: 201, body: 'done' }))
    const [first, again] = [await handler(make(), lambdaContext()), await handler(make(), lambdaContext())]
    expect(first).toEqual({ statusCode: 201, body: 'done' })
    expect(again).toMatchObject({ statusCode: 201, body: 'done' })
    expect(again).not.toEqual(first)
  })

  test('has no key, body or principal when there is none', () => {
    const request = readRequest(make(name.startsWith('alb') ? { key: null } : { key: null, principal: null }))
    expect(request.header('idempotency-key')).toEqual([])
    expect([null, undefined, '']).toContain(request.body)
    expect(principalOf(request)).toBeUndefined()
  })

  test('carries bytes as base64, and text as it is', () => {
    const bytes = readRequest(make({ body: Uint8Array.of(0, 255) }))
    expect(bytes).toMatchObject({ body: 'AP8=', isBase64Encoded: true })
    const text = readRequest(make({ body: 'a=1', headers: { 'content-type': 'text/plain' } }))
    expect(text).toMatchObject({ body: 'a=1', isBase64Encoded: false })
    expect(new Set(text.header('content-type'))).toEqual(new Set(['text/plain']))
  })

  test('refuses what is no request', () => {
    expect(() => make({ path: 'orders' })).toThrow('path must begin with "/" and go without a query; got "orders".')
    expect(() => make({ path: '/orders?a=1' })).toThrow('without a query')
    expect(() => make({ verb: 'GET' } as never)).toThrow('has no option "verb"')
  })
})

describe('each source has a form of its own', () => {
  const query = { q: ['a b', 'c'] }
  const headers = { Cookie: 'one=1; two=2', 'X-List': ['1', '2'] }

  test('a REST API keeps the writing of names, takes the last of many, and says null for nothing', () => {
    const event = restApiEvent({
      headers,
      query,
      path: '/orders/7',
      route: '/orders/{id}',
      pathParameters: { id: '7' },
    })
    expect(event.headers).toMatchObject({ 'Idempotency-Key': 'key-1', Cookie: 'one=1; two=2', 'X-List': '2' })
    expect(event.multiValueHeaders['X-List']).toEqual(['1', '2'])
    expect(event.multiValueQueryStringParameters).toEqual({ q: ['a b', 'c'] })
    expect(event).toMatchObject({ resource: '/orders/{id}', pathParameters: { id: '7' }, body: null })
    expect(restApiEvent()).toMatchObject({ queryStringParameters: null, pathParameters: null })
    expect('authorizer' in restApiEvent({ principal: null }).requestContext).toBe(false)
  })

  test('an HTTP API writes names small, joins by commas, and puts cookies apart', () => {
    const event = httpApiEvent({
      headers,
      query,
      path: '/orders/7',
      route: '/orders/{id}',
      pathParameters: { id: '7' },
    })
    expect(event.headers).toMatchObject({ 'idempotency-key': 'key-1', 'x-list': '1,2' })
    expect(event.headers).not.toHaveProperty('cookie')
    expect(event.cookies).toEqual(['one=1', 'two=2'])
    expect(event).toMatchObject({ rawQueryString: 'q=a%20b&q=c', queryStringParameters: { q: 'a b,c' } })
    expect(event).toMatchObject({ routeKey: 'POST /orders/{id}', pathParameters: { id: '7' }, version: '2.0' })
    expect('body' in httpApiEvent() || 'queryStringParameters' in httpApiEvent()).toBe(false)
  })

  test('a Function URL is always on its default route, and verifies by IAM', () => {
    const event = functionUrlEvent({ path: '/orders/7', principal: 'anna' })
    expect(event.routeKey).toBe('$default')
    expect(event.requestContext.authorizer?.iam.userArn).toBe('arn:aws:iam::111122223333:user/anna')
  })

  test('a load balancer leaves the query encoded, and has one kind of headers or the other', () => {
    expect(albEvent({ headers, query })).toMatchObject({ queryStringParameters: { q: 'c' }, body: '' })
    const multi = albMultiEvent({ headers, query })
    expect(multi.multiValueQueryStringParameters).toEqual({ q: ['a%20b', 'c'] })
    expect(multi.multiValueHeaders?.['x-list']).toEqual(['1', '2'])
    expect('headers' in multi).toBe(false)
    expect('multiValueHeaders' in albEvent()).toBe(false)
  })
})

describe('sqsEvent', () => {
  test('makes messages of a standard queue, that a batch takes', async () => {
    const event = sqsEvent({ body: { id: 1 } }, { body: 'text', key: 'k', attributes: { trace: 't' }, receiveCount: 2 })
    const [first, second] = event.Records
    expect(first).toMatchObject({
      body: '{"id":1}',
      md5OfBody: 'd2ce28b9a7fd7e4407e2b0fd499b7fe4',
      messageAttributes: {},
    })
    expect(first!.eventSourceARN).toBe('arn:aws:sqs:eu-central-1:111122223333:queue')
    expect(second!.messageAttributes).toMatchObject({
      'Idempotency-Key': { stringValue: 'k', dataType: 'String' },
      trace: { stringValue: 't' },
    })
    expect(second!.attributes.ApproximateReceiveCount).toBe('2')
    expect(first!.messageId).not.toBe(second!.messageId)
    const idempotency = createIdempotency({ store: memoryStore(), namespace: 'orders' })
    const handler = batchHandler({ idempotency, parse: (text) => text }, () => 'done')
    expect(await handler(event, lambdaContext())).toEqual({ batchItemFailures: [] })
  })

  test('makes messages of a FIFO queue, in their order', () => {
    const [first, second] = sqsEvent({ body: 1, group: 'a' }, { body: 1, group: 'b' }).Records
    expect(first!.eventSourceARN).toMatch(/queue\.fifo$/)
    expect(first!.attributes.MessageGroupId).toBe('a')
    expect(first!.attributes.SequenceNumber! < second!.attributes.SequenceNumber!).toBe(true)
    expect(first!.attributes.MessageDeduplicationId).not.toBe(second!.attributes.MessageDeduplicationId)
  })

  test('refuses what is no message', () => {
    expect(() => sqsEvent('text' as never)).toThrow('sqsEvent takes messages such as { body: … }; got "text".')
    expect(() => sqsEvent({ body: 1, id: '7' } as never)).toThrow('has no option "id"')
    expect(() => sqsEvent({ body: 1, receiveCount: 0 })).toThrow('receiveCount must be a whole number')
  })
})
