import type { LocalRoute } from '../template/model.ts'

/** The route a request takes, with its path parameters. */
export interface RouteMatch {
  readonly route: LocalRoute
  readonly pathParameters: { readonly [name: string]: string } | undefined
}

/**
 * Finds the route of a request by API Gateway's order: full match, then a greedy `{proxy+}` path, then `$default`;
 * a named method before ANY (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-routes.html).
 */
export function matchRoute(routes: readonly LocalRoute[], method: string, path: string): RouteMatch | undefined {
  const candidates = routes.flatMap((route) => {
    const match = matchOne(route, method, path)
    return match === undefined ? [] : [match]
  })
  candidates.sort((one, other) => other.rank - one.rank)
  return candidates[0]
}

function matchOne(route: LocalRoute, method: string, path: string): (RouteMatch & { rank: number }) | undefined {
  if (route.routeKey === '$default') return { route, pathParameters: undefined, rank: 0 }
  const [routeMethod = '', routePath = ''] = route.routeKey.split(' ')
  if (routeMethod !== 'ANY' && routeMethod !== method) return undefined
  const wanted = routePath.split('/')
  const given = path.split('/')
  const parameters: Record<string, string> = {}
  let rank = routeMethod === 'ANY' ? 1 : 2
  for (const [index, segment] of wanted.entries()) {
    const name = /^\{([^}+]+)(\+?)\}$/.exec(segment)
    if (name?.[2] === '+') {
      const rest = given.slice(index).join('/')
      if (rest === '') return undefined
      parameters[name[1] ?? ''] = decodeURIComponent(rest)
      return { route, pathParameters: parameters, rank }
    }
    const value = given[index]
    if (value === undefined) return undefined
    if (name) {
      if (value === '') return undefined
      parameters[name[1] ?? ''] = decodeURIComponent(value)
    } else {
      if (segment !== value) return undefined
      // Literal segments win over parameters.
      rank += 4
    }
  }
  if (given.length !== wanted.length) return undefined
  return { route, pathParameters: Object.keys(parameters).length > 0 ? parameters : undefined, rank: rank + 2 }
}
