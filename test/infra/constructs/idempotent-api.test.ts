import { Duration } from 'aws-cdk-lib'
import { HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers'
import { expect, test } from 'vitest'
import { IdempotentApi, type IdempotentApiProps } from '../../../infra/constructs/index.ts'
import { newStack, only, plainFunction, refusal, warnings } from './set-up.ts'

const authorizer = () => new HttpJwtAuthorizer('Callers', 'https://issuer.test', { jwtAudience: ['orders'] })

function apiWith(props: IdempotentApiProps, timeout = Duration.seconds(10)) {
  const stack = newStack()
  const api = new IdempotentApi(stack, 'Api', props)
  api.addRoute({ path: '/orders', handler: plainFunction(stack, 'Orders', { timeout }) })
  return { stack, api }
}

test('a route takes POST from verified callers', () => {
  const { stack } = apiWith({ authorizer: authorizer() })
  expect(only(stack, 'AWS::ApiGatewayV2::Route').properties).toMatchObject({
    RouteKey: 'POST /orders',
    AuthorizationType: 'JWT',
  })
  expect(refusal(stack)).toBe('')
  expect(warnings(stack)).toEqual([])
})

test('its stage has no name in the path, a limit, and access logs without keys and callers', () => {
  const { stack } = apiWith({ authorizer: authorizer() })
  const { properties } = only(stack, 'AWS::ApiGatewayV2::Stage')
  expect(properties).toMatchObject({
    StageName: '$default',
    DefaultRouteSettings: { ThrottlingRateLimit: 1_000, ThrottlingBurstLimit: 2_000 },
  })
  expect(Object.keys(JSON.parse(properties.AccessLogSettings.Format))).toEqual([
    'requestId',
    'at',
    'route',
    'status',
    'latencyMs',
    'error',
  ])
})

test('a route without an authorizer is refused, and names the API', () => {
  const { stack, api } = apiWith({ authorizer: authorizer() })
  const open = new IdempotentApi(stack, 'Open')
  open.addRoute({ path: '/a', methods: [HttpMethod.PATCH], handler: plainFunction(stack, 'A') })
  api.addRoute({ path: '/b', handler: plainFunction(stack, 'B') })
  expect(refusal(stack)).toMatch(/\[Stack\/Open\] 0 of 1 routes have an authorizer.*\(lambda-once:anonymous-routes\)/)
  expect(refusal(apiWith({ acknowledgeAnonymous: true }).stack)).toBe('')
})

test('a function slower than the API is warned of', () => {
  const { stack } = apiWith({ authorizer: authorizer() }, Duration.seconds(31))
  expect(warnings(stack)).toEqual(['/Stack/Api lambda-once:api-gives-up-first'])
})

test('CORS has to let the key through, under the name it has', () => {
  const corsPreflight = { allowHeaders: ['Content-Type', 'Idempotency-Key'] }
  expect(refusal(apiWith({ authorizer: authorizer(), corsPreflight }).stack)).toBe('')
  expect(refusal(apiWith({ authorizer: authorizer(), corsPreflight, keyHeader: 'X-Request-Key' }).stack)).toContain(
    '0 of them is x-request-key',
  )
})
