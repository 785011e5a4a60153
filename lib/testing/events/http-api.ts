import { randomUUID } from 'node:crypto'
import type { APIGatewayProxyEventV2WithIAMAuthorizer, APIGatewayProxyEventV2WithJWTAuthorizer } from 'aws-lambda'
import { START_MS } from '../fake-clock.ts'
import {
  ACCOUNT,
  commas,
  type HttpEventOptions,
  type HttpRequestParts,
  ISSUER,
  lowerCase,
  REGION,
  requestParts,
  single,
} from './request.ts'

/**
 * An event of an API Gateway HTTP API (payload format 2.0), with a JWT authorizer. Header names are in lower case,
 * values that came several times are joined by commas, cookies lie apart, and what is not there is missing.
 *
 * @throws InvalidOptionError when an option is wrong
 */
export function httpApiEvent(options: HttpEventOptions = {}): APIGatewayProxyEventV2WithJWTAuthorizer {
  const host = `http.execute-api.${REGION}.amazonaws.com`
  const parts = requestParts('httpApiEvent', host, options)
  const { principal, method, route } = parts
  const event = formatTwo(parts, { host, apiId: 'http', routeKey: `${method} ${route}` })
  const authorizer = principal !== undefined && {
    authorizer: {
      principalId: '',
      integrationLatency: 0,
      jwt: { claims: { sub: principal, iss: ISSUER, token_use: 'access' }, scopes: [] },
    },
  }
  // Without an authorizer the field is missing, which this type does not foresee.
  return {
    ...event,
    requestContext: { ...event.requestContext, ...authorizer },
  } as APIGatewayProxyEventV2WithJWTAuthorizer
}

/**
 * An event of a Lambda Function URL with IAM authorization: payload format 2.0, as an HTTP API sends it, always on the
 * route `$default`.
 *
 * @throws InvalidOptionError when an option is wrong
 */
export function functionUrlEvent(options: HttpEventOptions = {}): APIGatewayProxyEventV2WithIAMAuthorizer {
  const host = `url.lambda-url.${REGION}.on.aws`
  const parts = requestParts('functionUrlEvent', host, options)
  const event = formatTwo(parts, { host, apiId: 'url', routeKey: '$default' })
  const { pathParameters: _none, ...withoutParameters } = event
  const { principal } = parts
  const iam = principal !== undefined && {
    authorizer: {
      iam: {
        accessKey: 'AKIAIOSFODNN7EXAMPLE',
        accountId: ACCOUNT,
        callerId: 'AIDACKCEVSQ6C2EXAMPLE',
        cognitoIdentity: null,
        principalOrgId: null,
        userArn: `arn:aws:iam::${ACCOUNT}:user/${principal}`,
        userId: 'AIDACKCEVSQ6C2EXAMPLE',
      },
    },
  }
  return {
    ...withoutParameters,
    requestContext: { ...event.requestContext, ...iam },
  } as unknown as APIGatewayProxyEventV2WithIAMAuthorizer
}

function formatTwo(
  { method, path, headers, query, sourceIp, userAgent, pathParameters, body, isBase64Encoded }: HttpRequestParts,
  { host, apiId, routeKey }: { readonly host: string; readonly apiId: string; readonly routeKey: string },
) {
  const cookies = headers
    .filter(([name]) => lowerCase(name) === 'cookie')
    .flatMap(([, values]) => values.flatMap((value) => value.split(/;\s*/)))
  const pairs = query.flatMap(([name, values]) => values.map((value) => [name, value] as const))
  const others = headers.filter(([name]) => lowerCase(name) !== 'cookie')
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&'),
    ...(cookies.length > 0 && { cookies }),
    headers: single(others, commas, lowerCase),
    ...(query.length > 0 && { queryStringParameters: single(query, commas) }),
    ...(pathParameters !== undefined && { pathParameters }),
    requestContext: {
      accountId: ACCOUNT,
      apiId,
      domainName: host,
      domainPrefix: apiId,
      http: { method, path, protocol: 'HTTP/1.1', sourceIp, userAgent },
      requestId: randomUUID(),
      routeKey,
      stage: '$default',
      time: '01/Jan/2026:00:00:00 +0000',
      timeEpoch: START_MS,
    },
    ...(body !== undefined && { body }),
    isBase64Encoded,
  }
}
