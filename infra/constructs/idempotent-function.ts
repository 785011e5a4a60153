import type { Duration } from 'aws-cdk-lib'
import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch'
import type { IGrantable, IPrincipal } from 'aws-cdk-lib/aws-iam'
import type { NodejsFunction, NodejsFunctionProps } from 'aws-cdk-lib/aws-lambda-nodejs'
import type { LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { QUEUE_CHECKS } from '../../lib/checks/queue-checks.ts'
import { checkAtSynth } from './checks/at-synth.ts'
import { refuse } from './checks/refuse.ts'
import { refuseTableElsewhere } from './checks/same-region.ts'
import { bundledFunction } from './function/bundled-function.ts'
import { attachedByHand } from './queue/attached-by-hand.ts'
import { queueFacts, redeliverySeconds } from './queue/queue-facts.ts'
import { requiredSeconds } from './read/seconds.ts'
import type { IdempotencyGrantOptions } from './table/grants.ts'
import type { IdempotencyTable } from './table/idempotency-table.ts'

/** Properties of {@link IdempotentFunction}: those of `NodejsFunction`, and what it does with the table. */
export interface IdempotentFunctionProps extends NodejsFunctionProps, Pick<IdempotencyGrantOptions, 'receipts'> {
  /** The file with the handler. */
  readonly entry: string
  /** The table with its records. */
  readonly table: IdempotencyTable
  /**
   * How long a claim is exclusive, when the application sets it (`leaseSeconds`); the function gets it as LEASE_SECONDS.
   * @default - the invocation's remaining time
   */
  readonly lease?: Duration
  /**
   * Whether it may share requests between the records of a batch, as `groupCommit` of `idempotentBatch` has it.
   * @default - when an {@link IdempotentQueue} feeds it; set it for an event source that is added by hand
   */
  readonly groupCommit?: boolean
  /**
   * Messages that match no filter of an event source added by hand may be deleted.
   * @default false
   */
  readonly acknowledgeDrop?: boolean
}

/**
 * A function with idempotency: an ES module on Node 24 and arm64, bundled with its SDK, that knows the table and may use
 * it as its code path does. Its variables are IDEMPOTENCY_TABLE and RETENTION_SECONDS. Queues that are added to it as event
 * sources by hand are checked like those of an {@link IdempotentQueue}.
 *
 * @example
 * const worker = new IdempotentFunction(this, 'Worker', { entry: 'functions/worker.ts', table })
 */
export class IdempotentFunction extends Construct implements IGrantable {
  /** The function itself. */
  readonly function: NodejsFunction
  /** The function's own log group; absent when one was given. */
  readonly logGroup?: LogGroup
  /** The table with its records. */
  readonly table: IdempotencyTable
  /** How long a claim is exclusive, when the application sets it. */
  readonly lease?: Duration
  /** What was said of it; undefined: it follows from what feeds the function. */
  readonly groupCommit?: boolean
  /** Whom grants are given to: the function's role. */
  readonly grantPrincipal: IPrincipal

  constructor(scope: Construct, id: string, props: IdempotentFunctionProps) {
    super(scope, id)
    const { table, lease, acknowledgeDrop = false, groupCommit, receipts = false, ...functionProps } = props
    const variables = {
      ...table.environment,
      ...(lease && { LEASE_SECONDS: String(requiredSeconds(this, 'lease', lease)) }),
    }
    const taken = Object.keys(props.environment ?? {}).filter((name) => name in variables)
    if (taken.length > 0) {
      refuse(
        this,
        `${taken.join(', ')} is set by the construct: give the table another retention, or the function another lease.`,
      )
    }
    this.table = table
    if (lease !== undefined) this.lease = lease
    const { fn, logGroup } = bundledFunction(this, {
      ...functionProps,
      environment: { ...variables, ...props.environment },
    })
    this.function = fn
    refuseTableElsewhere(this, table.table, fn)
    if (logGroup !== undefined) this.logGroup = logGroup
    this.grantPrincipal = fn.grantPrincipal
    if (groupCommit !== undefined) this.groupCommit = groupCommit
    table.grantIdempotency(this, { groupCommit: groupCommit ?? false, receipts })

    const attached = () =>
      attachedByHand(fn, { stated: { acknowledgeDrop }, lease }).map((wiring) => queueFacts(wiring, 0))
    table.coverRedelivery(() => Math.max(0, ...attached().map(redeliverySeconds)))
    checkAtSynth(this, QUEUE_CHECKS, () =>
      attached().map((facts) => ({ ...facts, recordRetentionSeconds: table.knownRetentionSeconds() })),
    )
  }

  /** How often the function ended with an error. */
  metricErrors(props?: MetricOptions): Metric {
    return this.function.metricErrors(props)
  }

  /** How often the function was invoked. */
  metricInvocations(props?: MetricOptions): Metric {
    return this.function.metricInvocations(props)
  }

  /** How long the function ran, in milliseconds. */
  metricDuration(props?: MetricOptions): Metric {
    return this.function.metricDuration(props)
  }

  /** How often the function was refused an environment to run in. */
  metricThrottles(props?: MetricOptions): Metric {
    return this.function.metricThrottles(props)
  }
}
