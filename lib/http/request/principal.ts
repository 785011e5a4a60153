import { type Fields, fieldsOf } from '../fields.ts'
import type { HttpRequest } from './event.ts'

/**
 * Who the gateway has verified the caller to be, tagged by kind and issuer, or `undefined` when it verified nobody.
 *
 * An API key is no principal: a whole client application shares it. Neither is what a load balancer forwards in
 * `x-amzn-oidc-…` headers, whose signature the function has to check itself.
 */
export function principalOf({ requestContext }: HttpRequest): readonly string[] | undefined {
  const authorizer = fieldsOf(requestContext.authorizer)
  return (
    fromClaims(fieldsOf(authorizer.jwt).claims) ??
    // Cognito authorizers of REST APIs, and JWT authorizers in payload format 1.0.
    fromClaims(authorizer.claims) ??
    fromLambdaAuthorizer(authorizer.principalId ?? fieldsOf(authorizer.lambda).principalId, requestContext.apiId) ??
    fromIam(fieldsOf(authorizer.iam), 'identityPoolId', 'identityId', 'cognitoIdentity') ??
    fromIam(fieldsOf(requestContext.identity), 'cognitoIdentityPoolId', 'cognitoIdentityId')
  )
}

function fromClaims(claims: unknown): readonly string[] | undefined {
  const { iss, sub } = fieldsOf(claims)
  return filled(iss) && filled(sub) ? ['jwt', iss, sub] : undefined
}

/** What an id means is up to the authorizer, which belongs to one API. */
function fromLambdaAuthorizer(principalId: unknown, apiId: unknown): readonly string[] | undefined {
  return filled(principalId) ? ['authorizer', filled(apiId) ? apiId : '', principalId] : undefined
}

/** Everybody of a Cognito identity pool assumes the same role, so there the identity counts, not the role. */
function fromIam(
  iam: Fields,
  poolField: string,
  identityField: string,
  within?: string,
): readonly string[] | undefined {
  const cognito = within === undefined ? iam : fieldsOf(iam[within])
  const identityId = cognito[identityField]
  if (filled(identityId)) {
    const poolId = cognito[poolField]
    return ['cognito-identity', filled(poolId) ? poolId : '', identityId]
  }
  return filled(iam.userArn) ? fromArn(iam.userArn) : undefined
}

/** The session name of an assumed role is chosen anew per session, so a retry may come under another one. */
function fromArn(arn: string): readonly string[] {
  const role = /^arn:[^:]*:sts::(\d*):assumed-role\/([^/]+)\//.exec(arn)
  return role?.[1] === undefined || role[2] === undefined ? ['iam', arn] : ['role', role[1], role[2]]
}

function filled(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
