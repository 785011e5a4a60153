import { AccessLogField, AccessLogFormat } from 'aws-cdk-lib/aws-apigateway'
import {
  type CorsPreflightOptions,
  HttpApi,
  HttpMethod,
  type HttpRoute,
  HttpStage,
  type IHttpRouteAuthorizer,
  LogGroupLogDestination,
  type ThrottleSettings,
} from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations'
import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { API_CHECKS } from '../../lib/checks/service-checks.ts'
import { checkAtSynth } from './checks/at-synth.ts'
import { IdempotentFunction } from './idempotent-function.ts'
import { functionNumbers } from './read/numbers.ts'

/** Properties of {@link IdempotentApi}. */
export interface IdempotentApiProps {
  /**
   * What it is for.
   * @default - none
   */
  readonly description?: string
  /**
   * Verifies callers, for every route without an authorizer of its own. The verified caller is part of an operation's scope.
   * @default - none; needs `acknowledgeAnonymous`
   */
  readonly authorizer?: IHttpRouteAuthorizer
  /**
   * The application scopes its operations itself, or all callers may share answers (`anonymous: true` of the middleware).
   * @default false
   */
  readonly acknowledgeAnonymous?: boolean
  /**
   * The header with the key, when the middleware's `header` names another.
   * @default 'Idempotency-Key'
   */
  readonly keyHeader?: string
  /**
   * Lets browsers of other origins in. Its `allowHeaders` have to name the key's header.
   * @default - no CORS
   */
  readonly corsPreflight?: CorsPreflightOptions
  /**
   * More requests are answered with 429.
   * @default - 1,000 requests a second, bursts of 2,000
   */
  readonly throttle?: ThrottleSettings
}

/** A route and the function behind it. */
export interface IdempotentRoute {
  /** As API Gateway writes it: `/orders/{id}`. */
  readonly path: string
  /**
   * Its methods.
   * @default [HttpMethod.POST]
   */
  readonly methods?: HttpMethod[]
  /** The function that answers. */
  readonly handler: IdempotentFunction | IFunction
  /**
   * Verifies the callers of this route.
   * @default - the API's
   */
  readonly authorizer?: IHttpRouteAuthorizer
  /**
   * Scopes of which a token must have one.
   * @default - none
   */
  readonly authorizationScopes?: string[]
}

const THROTTLE = { rateLimit: 1_000, burstLimit: 2_000 } satisfies ThrottleSettings
const DEFAULT_KEY_HEADER = 'Idempotency-Key'

/** What is logged of a request. Neither its key nor who sent it. */
const LOGGED = {
  requestId: AccessLogField.contextRequestId(),
  at: AccessLogField.contextRequestTimeEpoch(),
  route: AccessLogField.contextRouteKey(),
  status: AccessLogField.contextStatus(),
  latencyMs: AccessLogField.contextResponseLatency(),
  error: AccessLogField.contextIntegrationErrorMessage(),
}

/**
 * An HTTP API in front of functions that are safe to call more than once.
 *
 * @example
 * const api = new IdempotentApi(this, 'Api', { authorizer })
 * api.addRoute({ path: '/orders', handler: ordersFunction })
 */
export class IdempotentApi extends Construct {
  /** The API itself. */
  readonly api: HttpApi
  /** Its only stage, `$default`: no stage's name is in a path. */
  readonly stage: HttpStage
  /** One line for each request, without its key and caller. */
  readonly accessLogs: LogGroup
  readonly #authorizer: IHttpRouteAuthorizer | undefined
  readonly #routes: IdempotentRoute[] = []

  constructor(scope: Construct, id: string, props: IdempotentApiProps = {}) {
    super(scope, id)
    const {
      authorizer,
      acknowledgeAnonymous = false,
      keyHeader = DEFAULT_KEY_HEADER,
      corsPreflight,
      description,
    } = props
    this.#authorizer = authorizer
    this.api = new HttpApi(this, 'Default', {
      ...(description !== undefined && { description }),
      ...(corsPreflight && { corsPreflight }),
      createDefaultStage: false,
    })
    this.accessLogs = new LogGroup(this, 'AccessLogs', { retention: RetentionDays.ONE_MONTH })
    this.stage = new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: props.throttle ?? THROTTLE,
      accessLogSettings: {
        destination: new LogGroupLogDestination(this.accessLogs),
        format: AccessLogFormat.custom(JSON.stringify(LOGGED)),
      },
    })
    checkAtSynth(this, API_CHECKS, () => {
      const timeouts = this.#routes.map(({ handler }) => functionNumbers(functionOf(handler)).timeoutSeconds)
      const known = timeouts.filter((timeout) => timeout !== undefined)
      const facts = {
        routes: this.#routes.length,
        routesWithAuthorizer: this.#routes.filter((route) => route.authorizer ?? authorizer).length,
        acknowledgeAnonymous,
        keyHeader: keyHeader.toLowerCase(),
        ...(known.length > 0 && { functionTimeoutSeconds: Math.max(...known) }),
        ...(corsPreflight && {
          corsAllowHeaders: (corsPreflight.allowHeaders ?? []).map((name) => name.toLowerCase()),
        }),
      }
      return [facts]
    })
  }

  /** Serves a route by a function. */
  addRoute(route: IdempotentRoute): HttpRoute[] {
    const { path, methods = [HttpMethod.POST], handler, authorizationScopes } = route
    const authorizer = route.authorizer ?? this.#authorizer
    this.#routes.push(route)
    return this.api.addRoutes({
      path,
      methods,
      integration: new HttpLambdaIntegration(`Integration${this.#routes.length}`, functionOf(handler)),
      ...(authorizer && { authorizer }),
      ...(authorizationScopes && { authorizationScopes }),
    })
  }

  /** Where the API is. */
  get url(): string {
    return this.api.apiEndpoint
  }

  /** Requests that were answered with 4xx: 409 and 422 among them. */
  metricClientError(props?: MetricOptions): Metric {
    return this.stage.metricClientError(props)
  }

  /** Requests that were answered with 5xx. */
  metricServerError(props?: MetricOptions): Metric {
    return this.stage.metricServerError(props)
  }

  /** How long an answer took, in milliseconds. */
  metricLatency(props?: MetricOptions): Metric {
    return this.stage.metricLatency(props)
  }
}

function functionOf(handler: IdempotentFunction | IFunction): IFunction {
  return handler instanceof IdempotentFunction ? handler.function : handler
}
