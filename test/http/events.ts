import type {
  ALBEvent,
  APIGatewayProxyEvent,
  APIGatewayProxyEventV2,
  APIGatewayProxyEventV2WithJWTAuthorizer,
  Context,
} from 'aws-lambda'

/** What a test says of a request; the rest is filled in as the source would. */
export interface Asked {
  method?: string
  path?: string
  key?: string | undefined
  headers?: Record<string, string>
  query?: Record<string, string[]>
  body?: string | null | undefined
  base64?: boolean
  sub?: string | null
}

const JSON_BODY = '{"item":"book","quantity":1}'
const ISSUER = 'https://issuer.example/pool'

function headersOf(asked: Asked): Record<string, string> {
  const key = 'key' in asked ? asked.key : 'key-1'
  return {
    'content-type': 'application/json',
    ...(key !== undefined && { 'idempotency-key': key }),
    ...asked.headers,
  }
}

const listed = <V>(map: Record<string, V>): Record<string, V[]> =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, [value]]))
const lastOf = (map: Record<string, string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(map).map(([name, values]) => [name, values.at(-1) ?? '']))

/** API Gateway REST API with a Cognito authorizer. */
export function restEvent(asked: Asked = {}): APIGatewayProxyEvent {
  const headers = headersOf(asked)
  const { method = 'POST', path = '/orders', query, base64 = false, sub = 'user-1' } = asked
  return {
    resource: path,
    path,
    httpMethod: method,
    headers,
    multiValueHeaders: listed(headers),
    queryStringParameters: query ? lastOf(query) : null,
    multiValueQueryStringParameters: query ?? null,
    pathParameters: null,
    stageVariables: null,
    requestContext: {
      accountId: '111122223333',
      apiId: 'rest-api',
      authorizer: sub === null ? null : { claims: { iss: ISSUER, sub } },
      httpMethod: method,
      identity: { sourceIp: '192.0.2.1', userArn: null, cognitoIdentityId: null },
      path: `/prod${path}`,
      protocol: 'HTTP/1.1',
      requestId: crypto.randomUUID(),
      requestTimeEpoch: Date.now(),
      resourceId: 'abc',
      resourcePath: path,
      stage: 'prod',
    },
    body: 'body' in asked ? (asked.body ?? null) : JSON_BODY,
    isBase64Encoded: base64,
  } as unknown as APIGatewayProxyEvent
}

/** API Gateway HTTP API, payload format 2.0, with a JWT authorizer. */
export function httpEvent(asked: Asked = {}): APIGatewayProxyEventV2WithJWTAuthorizer {
  const { method = 'POST', path = '/orders', query, base64 = false, sub = 'user-1' } = asked
  const pairs = Object.entries(query ?? {}).flatMap(([name, values]) => values.map((value) => `${name}=${value}`))
  const event: Record<string, unknown> = {
    version: '2.0',
    routeKey: `${method} ${path}`,
    rawPath: path,
    rawQueryString: pairs.join('&'),
    headers: headersOf(asked),
    requestContext: {
      accountId: '111122223333',
      apiId: 'http-api',
      ...(sub !== null && { authorizer: { jwt: { claims: { iss: ISSUER, sub }, scopes: null } } }),
      domainName: 'http-api.execute-api.eu-central-1.amazonaws.com',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'test' },
      requestId: crypto.randomUUID(),
      routeKey: `${method} ${path}`,
      stage: '$default',
      time: new Date().toISOString(),
      timeEpoch: Date.now(),
    },
    isBase64Encoded: base64,
  }
  const body = 'body' in asked ? asked.body : JSON_BODY
  if (body !== undefined && body !== null) event.body = body
  return event as unknown as APIGatewayProxyEventV2WithJWTAuthorizer
}

/** Lambda Function URL with IAM. */
export function urlEvent(asked: Asked = {}): APIGatewayProxyEventV2 {
  const event = httpEvent(asked)
  const { sub = 'user-1' } = asked
  return {
    ...event,
    routeKey: '$default',
    requestContext: {
      ...event.requestContext,
      domainName: 'abc.lambda-url.eu-central-1.on.aws',
      authorizer:
        sub === null
          ? undefined
          : { iam: { accountId: '111122223333', userArn: `arn:aws:iam::111122223333:user/${sub}` } },
    },
  } as unknown as APIGatewayProxyEventV2
}

/** Application Load Balancer. It verifies nobody, so these need a scope. */
export function albEvent(asked: Asked = {}): ALBEvent {
  const { method = 'POST', path = '/orders', query, base64 = false } = asked
  return {
    requestContext: {
      elb: { targetGroupArn: 'arn:aws:elasticloadbalancing:eu-central-1:111122223333:targetgroup/t/1' },
    },
    httpMethod: method,
    path,
    queryStringParameters: query ? lastOf(query) : {},
    headers: headersOf(asked),
    body: 'body' in asked ? (asked.body ?? '') : JSON_BODY,
    isBase64Encoded: base64,
  }
}

/** The same with multi-value headers switched on at the target group. */
export function albMultiEvent(asked: Asked = {}): ALBEvent {
  const { headers, queryStringParameters: _, ...event } = albEvent(asked)
  return {
    ...event,
    multiValueHeaders: listed(headers as Record<string, string>),
    multiValueQueryStringParameters: asked.query ?? {},
  }
}

export const SOURCES = {
  'REST API': restEvent,
  'HTTP API': httpEvent,
  'Function URL': urlEvent,
  ALB: albEvent,
  'ALB, multi-value': albMultiEvent,
} as const

/** Lambda's context with this much time left. */
export function lambdaContext(remainingMs = 30_000): Context {
  return {
    functionName: 'orders',
    awsRequestId: crypto.randomUUID(),
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => remainingMs,
  } as unknown as Context
}
