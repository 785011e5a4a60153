import { request as httpRequest } from 'node:http'
import type { APIGatewayProxyEventV2WithJWTAuthorizer } from 'aws-lambda'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { LoopbackServer } from '../../infra/local/engines/loopback-server.ts'
import { startHttpApi } from '../../infra/local/http-api/gateway.ts'
import { wireResponse } from '../../infra/local/http-api/response.ts'
import { matchRoute } from '../../infra/local/http-api/route-match.ts'
import { createTokenIssuer, type TokenIssuer } from '../../infra/local/http-api/token-issuer.ts'
import type { InvocationResult } from '../../infra/local/lambda/invocation.ts'
import type { LocalJwtAuthorizer, LocalRoute } from '../../infra/local/template/model.ts'

type Event = APIGatewayProxyEventV2WithJWTAuthorizer

const authorizer: LocalJwtAuthorizer = {
  issuer: 'https://issuer.example',
  audiences: ['orders'],
  header: 'authorization',
  scopes: [],
}
const route = (routeKey: string, more: Partial<LocalRoute> = {}): LocalRoute => ({
  routeKey,
  functionName: routeKey,
  authorizer: undefined,
  timeoutMs: 30_000,
  ...more,
})
const routes = [
  route('POST /open'),
  route('GET /orders/{id}'),
  route('ANY /files/{proxy+}'),
  route('POST /orders', { authorizer }),
  route('POST /admin', { authorizer: { ...authorizer, scopes: ['admin'] } }),
  route('GET /slow', { timeoutMs: 50 }),
]

let tokens: TokenIssuer
let api: LoopbackServer
let events: Event[]
let result: InvocationResult | Promise<InvocationResult>

beforeAll(async () => {
  tokens = await createTokenIssuer()
})
beforeEach(async () => {
  events = []
  result = { kind: 'returned', requestId: 'r', payload: { statusCode: 204 } }
  api = await startHttpApi({
    routes,
    tokens,
    invoke: async (_, event) => {
      events.push(event as Event)
      return result
    },
  })
})
afterEach(() => api.stop())

const post = (path: string, init: RequestInit = {}) => fetch(api.endpoint + path, { method: 'POST', ...init })

describe('the event', () => {
  test('has the shape of payload format 2.0', async () => {
    await post('/open?a=1&b=2&a=3&c=%20x', {
      headers: { 'Content-Type': 'application/json', 'X-Custom': 'Value', Cookie: 'one=1; two=2' },
      body: '{"hello":"wörld"}',
    })
    expect(events[0]).toEqual({
      version: '2.0',
      routeKey: 'POST /open',
      rawPath: '/open',
      rawQueryString: 'a=1&b=2&a=3&c=%20x',
      cookies: ['one=1', 'two=2'],
      queryStringParameters: { a: '1,3', b: '2', c: ' x' },
      headers: expect.objectContaining({ 'content-type': 'application/json', 'x-custom': 'Value' }),
      requestContext: {
        accountId: '000000000000',
        apiId: 'local',
        domainName: expect.any(String),
        domainPrefix: 'local',
        http: {
          method: 'POST',
          path: '/open',
          protocol: 'HTTP/1.1',
          sourceIp: '127.0.0.1',
          userAgent: expect.any(String),
        },
        requestId: expect.any(String),
        routeKey: 'POST /open',
        stage: '$default',
        time: expect.stringMatching(/^\d{2}\/[A-Z][a-z]{2}\/\d{4}:\d{2}:\d{2}:\d{2} \+0000$/),
        timeEpoch: expect.any(Number),
      },
      body: '{"hello":"wörld"}',
      isBase64Encoded: false,
    })
    expect(events[0]?.headers).not.toHaveProperty('cookie')
  })

  test('joins repeated headers with commas', async () => {
    await new Promise((resolve, reject) => {
      httpRequest(
        `${api.endpoint}/open`,
        { method: 'POST', headers: { 'Idempotency-Key': ['a', 'b'] } },
        (response) => {
          response.resume().on('end', resolve)
        },
      )
        .on('error', reject)
        .end()
    })
    expect(events[0]?.headers['idempotency-key']).toBe('a,b')
  })

  test.each(['application/octet-stream', 'application/x-www-form-urlencoded', 'image/png'])(
    'carries a body of type %s in base64',
    async (type) => {
      await post('/open', { headers: { 'content-type': type }, body: Buffer.from([0, 255, 1]) })
      expect(events[0]).toMatchObject({ body: 'AP8B', isBase64Encoded: true })
    },
  )

  test('has neither body nor query nor cookies when the request has none', async () => {
    await post('/open')
    for (const name of ['body', 'queryStringParameters', 'cookies', 'pathParameters']) {
      expect(events[0]).not.toHaveProperty(name)
    }
  })

  test('has decoded path parameters', async () => {
    await fetch(`${api.endpoint}/orders/a%2Fb`)
    expect(events[0]).toMatchObject({
      routeKey: 'GET /orders/{id}',
      pathParameters: { id: 'a/b' },
      rawPath: '/orders/a%2Fb',
    })
  })
})

describe('a route with a JWT authorizer', () => {
  const withToken = (token: string, path = '/orders') => post(path, { headers: { authorization: `Bearer ${token}` } })

  test('passes the claims on as strings', async () => {
    const response = await withToken(await tokens.mint('alice', authorizer))
    expect(response.status).toBe(204)
    expect(events[0]?.requestContext.authorizer.jwt).toEqual({
      claims: {
        sub: 'alice',
        iss: 'https://issuer.example',
        aud: 'orders',
        iat: expect.stringMatching(/^\d+$/),
        exp: expect.stringMatching(/^\d+$/),
      },
      scopes: null,
    })
  })

  test.each([
    ['no token', async () => post('/orders')],
    ['no JWT', async () => withToken('nonsense')],
    [
      'another issuer',
      async () => withToken(await tokens.mint('alice', authorizer, { issuer: 'https://other.example' })),
    ],
    ['another audience', async () => withToken(await tokens.mint('alice', authorizer, { audience: 'other' }))],
    ['an expired token', async () => withToken(await tokens.mint('alice', authorizer, { lifetimeSeconds: -1 }))],
    ['another key pair', async () => withToken(await (await createTokenIssuer()).mint('alice', authorizer))],
  ])('answers 401 to %s, and no function runs', async (_, send) => {
    expect((await send()).status).toBe(401)
    expect(events).toEqual([])
  })

  test('answers 403 when the scope is missing', async () => {
    expect((await withToken(await tokens.mint('alice', authorizer), '/admin')).status).toBe(403)
    expect((await withToken(await tokens.mint('alice', authorizer, { scope: 'read admin' }), '/admin')).status).toBe(
      204,
    )
  })
})

describe('the answer', () => {
  const returned = (payload: unknown): InvocationResult => ({ kind: 'returned', requestId: 'r', payload })

  test('is the function’s: status, headers, cookies and decoded body', async () => {
    result = returned({
      statusCode: 201,
      headers: { 'X-Number': 7, Location: '/orders/1' },
      cookies: ['a=1', 'b=2'],
      body: Buffer.from([0, 255]).toString('base64'),
      isBase64Encoded: true,
    })
    const response = await post('/open')
    expect(response.status).toBe(201)
    expect(response.headers.get('x-number')).toBe('7')
    expect(response.headers.get('location')).toBe('/orders/1')
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from([0, 255]))
  })

  test.each([
    ['an object without statusCode', { id: 1 }, '{"id":1}'],
    ['a string', 'plain', 'plain'],
    ['null', null, 'null'],
  ])('is a 200 with JSON for %s', (_, payload, body) => {
    const response = wireResponse(returned(payload))
    expect(response).toMatchObject({ statusCode: 200, headers: { 'content-type': 'application/json' } })
    expect(response.body.toString()).toBe(body)
  })

  test.each([
    [{ statusCode: 'many' }],
    [{ statusCode: 200, body: { not: 'a string' } }],
    [{ statusCode: 200, headers: 'x' }],
  ])('is a 500 for %j', (payload) => {
    expect(wireResponse(returned(payload)).statusCode).toBe(500)
  })

  test.each([
    [{ kind: 'error', requestId: 'r', errorType: 'Error', errorMessage: 'secret' } as const, 500],
    [{ kind: 'throttled' } as const, 503],
  ])('to %j is the gateway’s own', async (ended, status) => {
    result = ended
    const response = await post('/open')
    expect(response.status).toBe(status)
    expect(await response.text()).not.toContain('secret')
  })

  test('is a 503 when the function takes longer than the integration may', async () => {
    result = new Promise(() => undefined)
    expect((await fetch(`${api.endpoint}/slow`)).status).toBe(503)
  })

  test('is a 404 for a path without a route', async () => {
    expect((await post('/nowhere')).status).toBe(404)
  })
})

test.each([
  ['GET', '/orders/1', 'GET /orders/{id}'],
  ['POST', '/orders', 'POST /orders'],
  ['PUT', '/files/a/b', 'ANY /files/{proxy+}'],
  ['GET', '/orders', undefined],
  ['GET', '/orders/', undefined],
  ['GET', '/files', undefined],
])('%s %s takes route %s', (method, path, routeKey) => {
  expect(matchRoute(routes, method, path)?.route.routeKey).toBe(routeKey)
})
