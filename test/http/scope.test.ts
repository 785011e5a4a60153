import { describe, expect, test } from 'vitest'
import { readRequest } from '../../lib/http/request/event.ts'
import { principalOf } from '../../lib/http/request/principal.ts'
import { InvalidOptionError } from '../../lib/index.ts'
import { albEvent, httpEvent, restEvent, urlEvent } from './events.ts'
import { setUp } from './harness.ts'

const principal = (requestContext: unknown) =>
  principalOf(readRequest({ httpMethod: 'POST', path: '/', requestContext: requestContext as object }))

describe('the verified principal', () => {
  test.each<[string, unknown, readonly string[]]>([
    ['JWT authorizer', { authorizer: { jwt: { claims: { iss: 'https://a', sub: '1' } } } }, ['jwt', 'https://a', '1']],
    ['Cognito authorizer', { authorizer: { claims: { iss: 'https://a', sub: '1' } } }, ['jwt', 'https://a', '1']],
    ['Lambda authorizer of a REST API', { apiId: 'api', authorizer: { principalId: 'u' } }, ['authorizer', 'api', 'u']],
    [
      'Lambda authorizer of an HTTP API',
      { apiId: 'api', authorizer: { lambda: { principalId: 'u' } } },
      ['authorizer', 'api', 'u'],
    ],
    [
      'role, without its session',
      { identity: { userArn: 'arn:aws:sts::111122223333:assumed-role/Admin/session-7' } },
      ['role', '111122223333', 'Admin'],
    ],
    [
      'role of a Function URL',
      { authorizer: { iam: { userArn: 'arn:aws-cn:sts::111122223333:assumed-role/Admin/other' } } },
      ['role', '111122223333', 'Admin'],
    ],
    ['IAM user', { authorizer: { iam: { userArn: 'arn:aws:iam::1:user/a' } } }, ['iam', 'arn:aws:iam::1:user/a']],
    [
      'identity of a Cognito identity pool, not the role it shares with all',
      {
        identity: {
          cognitoIdentityPoolId: 'pool',
          cognitoIdentityId: 'id',
          userArn: 'arn:aws:sts::1:assumed-role/Authenticated/CognitoIdentityCredentials',
        },
      },
      ['cognito-identity', 'pool', 'id'],
    ],
    [
      'the same through an HTTP API',
      {
        authorizer: {
          iam: { cognitoIdentity: { identityPoolId: 'pool', identityId: 'id' }, userArn: 'arn:aws:iam::1:user/a' },
        },
      },
      ['cognito-identity', 'pool', 'id'],
    ],
  ])('%s', (_, context, expected) => {
    expect(principal(context)).toEqual(expected)
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['an API key', { identity: { apiKey: 'k', apiKeyId: 'id' } }],
    ['claims that are null', { authorizer: { claims: null, scopes: null } }],
    ['a token without a subject', { authorizer: { jwt: { claims: { iss: 'https://a' } } } }],
    ['a token without an issuer', { authorizer: { claims: { sub: '1' } } }],
    ['blank ids', { authorizer: { principalId: ' ' } }],
    ['an authorizer that names nobody', { authorizer: { lambda: { tier: 'gold' } } }],
    ['claims that an authorizer passes as text', { authorizer: { claims: '{"iss":"a","sub":"1"}' } }],
    ['a load balancer', { elb: { targetGroupArn: 'a' } }],
  ])('%s is none', (_, context) => {
    expect(principal(context)).toBeUndefined()
  })
})

describe('scopes', () => {
  const answer = () => ({ statusCode: 201, headers: {}, body: crypto.randomUUID() })

  test.each<[string, unknown, unknown]>([
    ['users', httpEvent({ sub: 'a' }), httpEvent({ sub: 'b' })],
    ['paths', httpEvent({ path: '/orders/1/pay' }), httpEvent({ path: '/orders/2/pay' })],
    ['methods', httpEvent({ method: 'POST' }), httpEvent({ method: 'PATCH' })],
    ['kinds of principal', urlEvent({ sub: 'a' }), httpEvent({ sub: 'a' })],
  ])('other %s never see each other’s results', async (_, one, other) => {
    const { serve, store } = setUp()
    const handler = serve(answer)
    const [first, second] = [await handler(one), await handler(other)]
    expect(first.body).not.toBe(second.body)
    expect(store.records()).toHaveLength(2)
  })

  test('the same user through a REST and an HTTP API is one', async () => {
    const { serve, store } = setUp()
    const handler = serve(answer)
    expect((await handler(restEvent())).body).toBe((await handler(httpEvent())).body)
    expect(store.records()).toHaveLength(1)
  })

  test('anonymous: method and path remain apart', async () => {
    const { serve, store } = setUp({ anonymous: true })
    const handler = serve(answer)
    await handler(albEvent({ path: '/a' }))
    await handler(albEvent({ path: '/b' }))
    expect((await handler(httpEvent({ path: '/a', sub: 'x' }))).statusCode).toBe(201)
    expect(store.records()).toHaveLength(2)
  })

  test('a scope of one’s own replaces the default', async () => {
    const { serve, store } = setUp({
      scope: ((event: { headers: Record<string, string> }) => ['tenant', event.headers['x-tenant'] ?? '']) as never,
    })
    const handler = serve(answer)
    await handler(httpEvent({ sub: 'a', headers: { 'x-tenant': '1' } }))
    await handler(httpEvent({ sub: 'b', headers: { 'x-tenant': '1' } }))
    await handler(httpEvent({ sub: 'b', headers: { 'x-tenant': '2' } }))
    expect(store.records()).toHaveLength(2)
  })

  test('namespaces are apart on one store', async () => {
    const one = setUp()
    const other = setUp({}, { store: one.store, namespace: 'refunds' })
    await one.serve(answer)(httpEvent())
    await other.serve(answer)(httpEvent())
    expect(one.store.records()).toHaveLength(2)
  })
})

describe('nobody verified and nothing said', () => {
  test.each([
    ['HTTP API', httpEvent({ sub: null })],
    ['REST API', restEvent({ sub: null })],
    ['ALB', albEvent()],
  ])('%s: a configuration error, loud, without a store call', async (_, event) => {
    const { serve, store } = setUp()
    const promise = serve(() => expect.unreachable())(event)
    await expect(promise).rejects.toThrow(InvalidOptionError)
    await expect(promise).rejects.toThrow(/authorizer.*scope.*anonymous: true/)
    expect(store.calls).toEqual([])
  })

  test.each([
    ['nothing', undefined],
    ['an empty string', ''],
    ['an empty list', []],
    ['empty parts', ['', '']],
  ])('a scope that gives %s is one too', async (_, scope) => {
    const { serve, store } = setUp({ scope: (() => scope) as never })
    await expect(serve(() => expect.unreachable())(httpEvent())).rejects.toThrow(InvalidOptionError)
    expect(store.calls).toEqual([])
  })
})
