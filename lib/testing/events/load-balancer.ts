import type { ALBEvent } from 'aws-lambda'
import { booleanOption } from '../../base/guards.ts'
import {
  ACCOUNT,
  type HttpEventOptions,
  last,
  lowerCase,
  type Many,
  multiple,
  REGION,
  requestParts,
  single,
} from './request.ts'

/** What a test says of a load balancer's request. */
export interface AlbEventOptions extends Omit<HttpEventOptions, 'principal' | 'route' | 'pathParameters'> {
  /**
   * Whether multi-value headers are switched on at the target group: the event has then no `headers` at all.
   * @defaultValue false
   */
  readonly multiValue?: boolean
}

/**
 * An event of an Application Load Balancer. It verifies nobody, writes header names in lower case, leaves the query as
 * the client has encoded it, and has an empty text for a body that is not there.
 *
 * @throws InvalidOptionError when an option is wrong
 */
export function albEvent({ multiValue, ...options }: AlbEventOptions = {}): ALBEvent {
  const parts = requestParts('albEvent', `balancer-1.${REGION}.elb.amazonaws.com`, options)
  const { method, path, headers, body = '', isBase64Encoded } = parts
  const query: readonly Many[] = parts.query.map(([name, values]) => [
    encodeURIComponent(name),
    values.map(encodeURIComponent),
  ])
  return {
    requestContext: {
      elb: {
        targetGroupArn: `arn:aws:elasticloadbalancing:${REGION}:${ACCOUNT}:targetgroup/handler/0123456789abcdef`,
      },
    },
    httpMethod: method,
    path,
    ...(booleanOption('multiValue', multiValue)
      ? { multiValueQueryStringParameters: multiple(query), multiValueHeaders: multiple(headers, lowerCase) }
      : { queryStringParameters: single(query, last), headers: single(headers, last, lowerCase) }),
    body,
    isBase64Encoded,
  }
}
