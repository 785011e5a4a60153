import { Duration } from 'aws-cdk-lib'
import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch'
import { Rule, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import type { IGrantable, IPrincipal } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import { RECONCILER_CHECKS } from '../../lib/checks/service-checks.ts'
import { checkAtSynth } from './checks/at-synth.ts'
import { refuse } from './checks/refuse.ts'
import { refuseTableElsewhere } from './checks/same-region.ts'
import { type FunctionOrEntry, functionOrEntry } from './function/function-or-entry.ts'
import { grantSend, type OutboxTarget } from './outbox-target.ts'
import { functionNumbers } from './read/numbers.ts'
import { requiredSeconds } from './read/seconds.ts'
import type { IdempotencyTable } from './table/idempotency-table.ts'

/** Properties of {@link Reconciler}. */
export interface ReconcilerProps extends FunctionOrEntry {
  /** The table to look after, with `reconcilerIndex: true`. */
  readonly table: IdempotencyTable
  /**
   * How often it looks: whole minutes, up to a day.
   * @default Duration.minutes(5)
   */
  readonly period?: Duration
  /**
   * Where it sends: the targets of the outbox, and the queues and functions that requests are delivered to again.
   * @default - none; see `addTarget`
   */
  readonly targets?: readonly OutboxTarget[]
}

const DEFAULT_PERIOD = Duration.minutes(5)
const DEFAULT_TIMEOUT = Duration.minutes(1)
const MINUTE_SECONDS = 60
const DAY_SECONDS = 86_400

/**
 * Finds what no delivery will finish (crashed, due, or stuck in the outbox) and sees to it, on a schedule.
 *
 * @example
 * new Reconciler(this, 'Reconciler', { table, entry: 'functions/reconciler.ts', targets: [{ queue: payments }] })
 */
export class Reconciler extends Construct implements IGrantable {
  /** The function that looks. */
  readonly function: IFunction
  /** What runs it. */
  readonly rule: Rule
  /** How often it runs. */
  readonly period: Duration
  /** Whom grants are given to: the function's role. */
  readonly grantPrincipal: IPrincipal

  constructor(scope: Construct, id: string, props: ReconcilerProps) {
    super(scope, id)
    const { table, period = DEFAULT_PERIOD } = props
    const periodSeconds = requiredSeconds(this, 'period', period)
    if (periodSeconds < MINUTE_SECONDS || periodSeconds > DAY_SECONDS || periodSeconds % MINUTE_SECONDS !== 0) {
      refuse(
        this,
        `The period is ${periodSeconds} s; it must be whole minutes, from ${MINUTE_SECONDS} s (EventBridge's least) to ${DAY_SECONDS} s (the stream's memory, after which only the reconciler sends).`,
      )
    }
    this.period = period
    this.function = functionOrEntry(this, props, { timeout: DEFAULT_TIMEOUT, environment: table.environment })
    refuseTableElsewhere(this, table.table, this.function)
    this.grantPrincipal = this.function.grantPrincipal
    table.grantIdempotency(this, { reconciler: true })
    table.addReconciler(period)
    this.rule = new Rule(this, 'Schedule', {
      schedule: Schedule.rate(period),
      // The next run finds what a failed one has left.
      targets: [new LambdaFunction(this.function, { retryAttempts: 0, maxEventAge: period })],
    })
    for (const target of props.targets ?? []) this.addTarget(target)
    checkAtSynth(this, RECONCILER_CHECKS, () => [
      { periodSeconds, functionTimeoutSeconds: functionNumbers(this.function).timeoutSeconds },
    ])
  }

  /** Lets the reconciler send somewhere. */
  addTarget(target: OutboxTarget): void {
    grantSend(this, target)
  }

  /** How long a run took, in milliseconds. */
  metricDuration(props?: MetricOptions): Metric {
    return this.function.metricDuration(props)
  }

  /** How often the reconciler ended with an error. */
  metricErrors(props?: MetricOptions): Metric {
    return this.function.metricErrors(props)
  }

  /** How often it ran; 0 in a period means that nothing is looked after. */
  metricRuns(props?: MetricOptions): Metric {
    return this.function.metricInvocations(props)
  }
}
