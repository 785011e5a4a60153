import type { Check } from './check.ts'

/** What is known of an API whose requests carry idempotency keys. */
export interface ApiFacts {
  readonly functionTimeoutSeconds?: number
  readonly routes: number
  readonly routesWithAuthorizer: number
  readonly acknowledgeAnonymous: boolean
  /** Lower-case names of the headers a browser may send; absent: no CORS. */
  readonly corsAllowHeaders?: readonly string[]
  /** Lower-case name of the header with the key. */
  readonly keyHeader: string
}

/** An HTTP API waits no longer. */
export const API_TIMEOUT_SECONDS = 30

/** Everything that is refused or warned of where an API takes requests. */
export const API_CHECKS: readonly Check<ApiFacts>[] = [
  {
    id: 'anonymous-routes',
    severity: 'refused',
    about: 'routes without an authorizer: one caller could replay the answer of another',
    acknowledgedBy: 'acknowledgeAnonymous',
    find: ({ routes, routesWithAuthorizer, acknowledgeAnonymous }) =>
      routesWithAuthorizer < routes && !acknowledgeAnonymous
        ? `${routesWithAuthorizer} of ${routes} routes have an authorizer: without a verified caller in its scope, an operation's answer can be replayed to whoever sends its key. Give an authorizer; or set the middleware's own scope or anonymous: true, and acknowledgeAnonymous: true here.`
        : undefined,
  },
  {
    id: 'api-gives-up-first',
    severity: 'warned',
    about: "function timeout beyond the API's 30 seconds",
    find: ({ functionTimeoutSeconds }) =>
      functionTimeoutSeconds !== undefined && functionTimeoutSeconds > API_TIMEOUT_SECONDS
        ? `The function may run for ${functionTimeoutSeconds} s, and the API answers 503 after ${API_TIMEOUT_SECONDS} s: the client tries again while the first try still runs, and gets 409. Set the function's timeout below ${API_TIMEOUT_SECONDS} s, or answer 202 and work from a queue.`
        : undefined,
  },
  {
    id: 'cors-without-key-header',
    severity: 'refused',
    about: 'CORS that does not let browsers send the idempotency key',
    find: ({ corsAllowHeaders, keyHeader }) =>
      corsAllowHeaders !== undefined && !corsAllowHeaders.some((name) => name === '*' || name === keyHeader)
        ? `CORS allows ${corsAllowHeaders.length} headers, and 0 of them is ${keyHeader}: browsers cannot send a key, and every request is refused with 400. Add it to allowHeaders.`
        : undefined,
  },
]

/** What is known of an outbox relay. */
export interface RelayFacts {
  readonly reconcilers: number
  readonly acknowledgeNoReconciler: boolean
  readonly reportsBatchItemFailures: boolean
  readonly startsAtHorizon: boolean
  readonly filters: number
  /** −1: until the record leaves the stream. */
  readonly retryAttempts: number
  readonly hasFailureDestination: boolean
}

/** Everything that is refused or warned of where a relay sends what a commit has written. */
export const RELAY_CHECKS: readonly Check<RelayFacts>[] = [
  {
    id: 'relay-without-reconciler',
    severity: 'refused',
    about: 'outbox relay without a reconciler: what is older than the stream (24 h) would never be sent',
    acknowledgedBy: 'acknowledgeNoReconciler',
    find: ({ reconcilers, acknowledgeNoReconciler }) =>
      reconcilers === 0 && !acknowledgeNoReconciler
        ? `${reconcilers} reconcilers work on the table of this relay, and 1 is needed: a message that could not be sent within the stream's 24 h is never sent. Add a Reconciler on the same table; or, when it lies in another app, set acknowledgeNoReconciler: true.`
        : undefined,
  },
  {
    id: 'relay-stops-the-shard',
    severity: 'refused',
    about: 'relay whose event source retries without end, without a failure destination or without partial failures',
    find: ({ retryAttempts, hasFailureDestination, reportsBatchItemFailures }) =>
      retryAttempts < 0 || !hasFailureDestination || !reportsBatchItemFailures
        ? `The relay's event source has ${retryAttempts < 0 ? 'endless' : retryAttempts} retries, ${hasFailureDestination ? 1 : 0} failure destinations and ${reportsBatchItemFailures ? 1 : 0} response types: one message that cannot be sent stops its shard for up to 24 h. Leave the event source as the construct makes it.`
        : undefined,
  },
  {
    id: 'relay-misses-messages',
    severity: 'refused',
    about: 'relay that does not start at the horizon of the stream or is not filtered to the outbox',
    find: ({ startsAtHorizon, filters }) =>
      startsAtHorizon && filters === 1
        ? undefined
        : `The relay's event source starts ${startsAtHorizon ? 'at the horizon' : 'at the end'} of the stream and has ${filters} filters, not 1: messages of the first minutes are missed, or every write of every record invokes the relay. Leave the event source as the construct makes it.`,
  },
]

/** What is known of a reconciler. */
export interface ReconcilerFacts {
  readonly periodSeconds: number
  readonly functionTimeoutSeconds?: number
}

/** Everything that is refused or warned of where a reconciler runs on a schedule. */
export const RECONCILER_CHECKS: readonly Check<ReconcilerFacts>[] = [
  {
    id: 'reconciler-overlaps',
    severity: 'warned',
    about: "reconciler period below the function's timeout",
    find: ({ periodSeconds, functionTimeoutSeconds }) =>
      functionTimeoutSeconds !== undefined && periodSeconds < functionTimeoutSeconds
        ? `The reconciler runs every ${periodSeconds} s and may take ${functionTimeoutSeconds} s: runs overlap and spend their writes on losing claims to each other. Set period to at least ${functionTimeoutSeconds} s, or the function's timeout to less.`
        : undefined,
  },
]
