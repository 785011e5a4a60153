import type { Assembly, Resource } from './assembly.ts'
import type { LocalJwtAuthorizer, LocalRoute } from './model.ts'
import { asArray, asNumberOr, asObject, asString, UnsupportedTemplateError } from './narrow.ts'
import { mappedProperties, type Resolve } from './resolve.ts'

// API Gateway's own ceiling for HTTP APIs, and its default.
const DEFAULT_INTEGRATION_TIMEOUT_MS = 30_000

/** Refuses an API the local gateway would serve differently. @throws UnsupportedTemplateError. */
export function checkApi(resource: Resource, resolve: Resolve): void {
  const where = `${resource.stack}/${resource.logicalId}`
  const harmless = ['Name', 'Description', 'Tags', 'DisableExecuteApiEndpoint']
  const { ProtocolType } = mappedProperties(resource, resolve, ['ProtocolType'], harmless)
  if (ProtocolType !== 'HTTP') {
    throw new UnsupportedTemplateError(`${where}: only HTTP APIs, not ${String(ProtocolType)}`)
  }
}

/** Refuses a stage whose name would be part of every path. @throws UnsupportedTemplateError. */
export function checkStage(resource: Resource, resolve: Resolve): void {
  const where = `${resource.stack}/${resource.logicalId}`
  const harmless = ['ApiId', 'AutoDeploy', 'AccessLogSettings', 'DefaultRouteSettings', 'Description', 'Tags']
  const { StageName } = mappedProperties(resource, resolve, ['StageName'], harmless)
  if (StageName !== '$default') {
    throw new UnsupportedTemplateError(`${where}: only the $default stage, whose name is in no path`)
  }
}

/** Maps a route with its integration and authorizer. @throws UnsupportedTemplateError. */
export function mapRoute(resource: Resource, assembly: Assembly, resolve: Resolve): LocalRoute {
  const { stack } = resource
  const where = `${stack}/${resource.logicalId}`
  const mapped = ['RouteKey', 'Target', 'AuthorizationType', 'AuthorizerId', 'AuthorizationScopes']
  const properties = mappedProperties(resource, resolve, mapped, ['ApiId', 'OperationName'])
  const target = asString(properties.Target, where).replace(/^integrations\//, '')
  const authorization = asString(properties.AuthorizationType ?? 'NONE', where)
  if (authorization !== 'NONE' && authorization !== 'JWT') {
    throw new UnsupportedTemplateError(
      `${where}: AuthorizationType ${authorization}; the local gateway has NONE and JWT`,
    )
  }
  const scopes = asArray(properties.AuthorizationScopes ?? [], where).map((scope) => asString(scope, where))
  return {
    routeKey: asString(properties.RouteKey, where),
    ...integration(part(assembly, stack, target, where), resolve),
    authorizer:
      authorization === 'JWT'
        ? authorizer(part(assembly, stack, asString(properties.AuthorizerId, where), where), resolve, scopes)
        : undefined,
  }
}

function integration(resource: Resource, resolve: Resolve): Pick<LocalRoute, 'functionName' | 'timeoutMs'> {
  const where = `${resource.stack}/${resource.logicalId}`
  const mapped = ['IntegrationType', 'IntegrationUri', 'PayloadFormatVersion', 'TimeoutInMillis']
  const properties = mappedProperties(resource, resolve, mapped, ['ApiId', 'IntegrationMethod', 'Description'])
  if (properties.IntegrationType !== 'AWS_PROXY' || properties.PayloadFormatVersion !== '2.0') {
    throw new UnsupportedTemplateError(`${where}: only AWS_PROXY integrations with payload format 2.0`)
  }
  const functionName = /:function:([^:/]+)/.exec(asString(properties.IntegrationUri, where))?.[1]
  if (functionName === undefined) throw new UnsupportedTemplateError(`${where}: the integration is not a function`)
  return { functionName, timeoutMs: asNumberOr(properties.TimeoutInMillis, DEFAULT_INTEGRATION_TIMEOUT_MS, where) }
}

function authorizer(resource: Resource, resolve: Resolve, scopes: readonly string[]): LocalJwtAuthorizer {
  const where = `${resource.stack}/${resource.logicalId}`
  const mapped = ['AuthorizerType', 'IdentitySource', 'JwtConfiguration']
  const properties = mappedProperties(resource, resolve, mapped, ['ApiId', 'Name'])
  if (properties.AuthorizerType !== 'JWT') throw new UnsupportedTemplateError(`${where}: only JWT authorizers`)
  const jwt = asObject(properties.JwtConfiguration, where)
  const sources = asArray(properties.IdentitySource, where)
  const header = /^\$request\.header\.([\w-]+)$/.exec(asString(sources[0], where))?.[1]
  if (sources.length !== 1 || header === undefined) {
    throw new UnsupportedTemplateError(`${where}: the token must come from one header ($request.header.…)`)
  }
  return {
    issuer: asString(jwt.Issuer, where),
    audiences: asArray(jwt.Audience, where).map((audience) => asString(audience, where)),
    header: header.toLowerCase(),
    scopes,
  }
}

function part(assembly: Assembly, stack: string, logicalId: string, where: string): Resource {
  const found = assembly.find(stack, logicalId)
  if (found === undefined) throw new UnsupportedTemplateError(`${where}: ${logicalId} is not in ${stack}`)
  return found
}
