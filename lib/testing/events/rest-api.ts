import { randomUUID } from 'node:crypto'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { START_MS } from '../fake-clock.ts'
import { ACCOUNT, type HttpEventOptions, ISSUER, last, multiple, REGION, requestParts, single } from './request.ts'

/**
 * An event of an API Gateway REST API (payload format 1.0), with a Cognito authorizer. Header names keep the client's
 * writing; what is not there is `null`.
 *
 * @throws InvalidOptionError when an option is wrong
 */
export function restApiEvent(options: HttpEventOptions = {}): APIGatewayProxyEvent {
  const host = `rest.execute-api.${REGION}.amazonaws.com`
  const { method, path, route, headers, query, principal, sourceIp, userAgent, ...parts } = requestParts(
    'restApiEvent',
    host,
    options,
  )
  const hasQuery = query.length > 0
  return {
    resource: route,
    path,
    httpMethod: method,
    headers: single(headers, last),
    multiValueHeaders: multiple(headers),
    queryStringParameters: hasQuery ? single(query, last) : null,
    multiValueQueryStringParameters: hasQuery ? multiple(query) : null,
    pathParameters: parts.pathParameters ?? null,
    stageVariables: null,
    requestContext: {
      accountId: ACCOUNT,
      apiId: 'rest',
      // Without an authorizer the field is missing, which the types do not foresee.
      ...(principal === undefined
        ? ({} as { authorizer: null })
        : { authorizer: { claims: { sub: principal, iss: ISSUER, token_use: 'access' } } }),
      domainName: host,
      domainPrefix: 'rest',
      extendedRequestId: 'ZXh0ZW5kZWQtaWQ=',
      httpMethod: method,
      identity: {
        accessKey: null,
        accountId: null,
        apiKey: null,
        apiKeyId: null,
        caller: null,
        clientCert: null,
        cognitoAuthenticationProvider: null,
        cognitoAuthenticationType: null,
        cognitoIdentityId: null,
        cognitoIdentityPoolId: null,
        principalOrgId: null,
        sourceIp,
        user: null,
        userAgent,
        userArn: null,
      },
      path: `/prod${path}`,
      protocol: 'HTTP/1.1',
      requestId: randomUUID(),
      requestTime: '01/Jan/2026:00:00:00 +0000',
      requestTimeEpoch: START_MS,
      resourceId: 'abc123',
      resourcePath: route,
      stage: 'prod',
    },
    body: parts.body ?? null,
    isBase64Encoded: parts.isBase64Encoded,
  }
}
