import { type Duration, Lazy, type RemovalPolicy } from 'aws-cdk-lib'
import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch'
import type { ITableV2, ReplicaTableProps } from 'aws-cdk-lib/aws-dynamodb'
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { Construct } from 'constructs'
import { TABLE_CHECKS } from '../../../lib/checks/table-checks.ts'
import { INDEX_NAME } from '../../../lib/dynamodb/table-shape.ts'
import { checkAtSynth } from '../checks/at-synth.ts'
import { refuse, refuseBeside } from '../checks/refuse.ts'
import { requiredSeconds } from '../read/seconds.ts'
import {
  GROUP_COMMIT_ACTIONS,
  type IdempotencyGrantOptions,
  INDEX_ACTIONS,
  KEY_ACTIONS,
  KEY_READ_ACTIONS,
  OPERATOR_INDEX_ACTIONS,
  OPERATOR_READ_ACTIONS,
  OPERATOR_WRITE_ACTIONS,
  RELAY_ACTIONS,
  STREAM_ACTIONS,
  STREAM_LIST_ACTIONS,
  tableActions,
} from './grants.ts'
import { newTable } from './new-table.ts'
import { computedRetentionSeconds } from './retention.ts'
import { tableFacts } from './table-facts.ts'

/** Properties of {@link IdempotencyTable}. */
export interface IdempotencyTableProps {
  /**
   * A table that exists already, with the keys `pk` and `sk` (strings) and TTL on `expiresAt`. One of this app is checked.
   * @default - a new table
   */
  readonly table?: ITableV2
  /**
   * How long a finished operation protects. Shorter than a redelivery can take is refused.
   * @default - computed: the longest redelivery of the queues that feed the table's functions and an hour, at least a day
   */
  readonly retention?: Duration
  /**
   * Whether the table has a stream, which an {@link OutboxRelay} needs.
   * @default false
   */
  readonly stream?: boolean
  /**
   * Whether the table has the index that a {@link Reconciler} needs.
   * @default false
   */
  readonly reconcilerIndex?: boolean
  /**
   * A customer managed key. Functions are granted its use together with the table's.
   * @default - DynamoDB's own key
   */
  readonly encryptionKey?: IKey
  /**
   * What becomes of the table when it leaves its stack. Without its records everything that comes again is done again.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy
  /**
   * Whether the table cannot be deleted before this is switched off.
   * @default true
   */
  readonly deletionProtection?: boolean
  /**
   * Whether the table can be restored to any second of the last 35 days.
   * @default true
   */
  readonly pointInTimeRecovery?: boolean
  /**
   * Copies in other regions, with eventual consistency. Needs `acknowledgeHomeRegion`.
   * @default - none
   */
  readonly replicas?: ReplicaTableProps[]
  /**
   * All deliveries of one operation go to one region, so that two regions never claim it.
   * @default false
   */
  readonly acknowledgeHomeRegion?: boolean
}

/**
 * The table that holds the records of operations.
 *
 * @example
 * const table = new IdempotencyTable(this, 'Idempotency')
 */
export class IdempotencyTable extends Construct {
  /** The table itself. */
  readonly table: ITableV2
  /** The key that encrypts the table, when it is a customer's. */
  readonly encryptionKey?: IKey
  /** How long a finished operation protects, in seconds: a token, since queues may be attached until synthesis. */
  readonly retentionSeconds: string
  /** The variables a function reads: spread them into the `environment` of one that `IdempotentFunction` did not make. */
  readonly environment: { readonly IDEMPOTENCY_TABLE: string; readonly RETENTION_SECONDS: string }

  readonly #retentionSeconds: number | undefined
  readonly #redeliveriesSeconds: (() => number)[] = []
  readonly #reconcilerPeriodsSeconds: number[] = []
  #relays = 0

  constructor(scope: Construct, id: string, props: IdempotencyTableProps = {}) {
    super(scope, id)
    const { table, retention, acknowledgeHomeRegion = false, reconcilerIndex, ...creation } = props
    this.#retentionSeconds = retention && requiredSeconds(this, 'retention', retention)
    if (table === undefined) {
      this.table = newTable(this, { ...creation, reconcilerIndex: reconcilerIndex ?? false })
    } else {
      // An imported table does not tell which key encrypts it; that one may be stated.
      const { encryptionKey: _stated, ...contradictions } = creation
      refuseBeside(this, 'table', contradictions)
      this.table = table
    }
    const encryptionKey = props.encryptionKey ?? this.table.encryptionKey
    if (encryptionKey !== undefined) this.encryptionKey = encryptionKey
    this.retentionSeconds = Lazy.string({ produce: () => String(this.knownRetentionSeconds()) })
    this.environment = { IDEMPOTENCY_TABLE: this.table.tableName, RETENTION_SECONDS: this.retentionSeconds }

    checkAtSynth(this, TABLE_CHECKS, () => {
      const wanted = { wantsIndex: this.reconcilers > 0, wantsStream: this.#relays > 0 }
      const facts = tableFacts(this.table, { acknowledgeHomeRegion, ...wanted })
      // What is not known of an imported table is not held against it.
      return facts ? [facts] : []
    })
  }

  /**
   * Lets a function do with this table exactly what its code path does: on the table, as a reconciler on its index as
   * well, and with the table's key when it has one.
   */
  grantIdempotency(grantee: IGrantable, options: IdempotencyGrantOptions = {}): Grant {
    const grant = this.#grant(grantee, tableActions(options), this.table.tableArn)
    if (!options.reconciler) return grant
    return grant.combine(this.#grant(grantee, INDEX_ACTIONS, `${this.table.tableArn}/index/${INDEX_NAME}`))
  }

  /** Lets a function share requests between the records of a batch, beside what `grantIdempotency` allows. */
  grantGroupCommit(grantee: IGrantable): Grant {
    return this.#grant(grantee, GROUP_COMMIT_ACTIONS, this.table.tableArn)
  }

  /**
   * Lets a person look into operations by the command line, or by the console in a browser.
   *
   * @param grantee a role or user; `lambda-once` runs with its credentials
   */
  grantInspect(grantee: IGrantable): Grant {
    const grant = this.#grant(grantee, OPERATOR_READ_ACTIONS, this.table.tableArn, KEY_READ_ACTIONS)
    const indexArn = `${this.table.tableArn}/index/${INDEX_NAME}`
    return grant.combine(this.#grant(grantee, OPERATOR_INDEX_ACTIONS, indexArn, KEY_READ_ACTIONS))
  }

  /** Lets a person also settle, resume, release, redrive and dispatch what stands in the table. */
  grantOperate(grantee: IGrantable): Grant {
    return this.grantInspect(grantee).combine(this.#grant(grantee, OPERATOR_WRITE_ACTIONS, this.table.tableArn))
  }

  /** Lets an outbox relay mark what it has sent. */
  grantOutboxRelay(grantee: IGrantable): Grant {
    return this.#grant(grantee, RELAY_ACTIONS, this.table.tableArn)
  }

  /** Lets Lambda read this stream of the table for a function. CDK's own grant lists the streams of all tables. */
  grantStream(grantee: IGrantable, streamArn: string): Grant {
    return this.#grant(grantee, STREAM_ACTIONS, streamArn).combine(
      this.#grant(grantee, STREAM_LIST_ACTIONS, `${this.table.tableArn}/stream/*`),
    )
  }

  /**
   * Makes the computed retention outlive a redelivery.
   *
   * @param seconds asked at synthesis
   */
  coverRedelivery(seconds: () => number): void {
    this.#redeliveriesSeconds.push(seconds)
  }

  /** Tells the table that a reconciler works on it, and how often. */
  addReconciler(period: Duration): void {
    this.#reconcilerPeriodsSeconds.push(period.toSeconds())
  }

  /**
   * Tells the table that a relay reads its stream, and where that is.
   *
   * @throws Error when an imported table's stream is not known
   */
  addRelay(): string {
    this.#relays += 1
    return (
      this.table.tableStreamArn ??
      refuse(
        this,
        'An outbox relay reads 1 stream of this table, and 0 are known: import the table with its tableStreamArn.',
      )
    )
  }

  /** Writes whose condition did not hold: each is a repetition that was caught, or a lost race. */
  metricRefusedWrites(props?: MetricOptions): Metric {
    return this.table.metricConditionalCheckFailedRequests(props)
  }

  /** Write units that were used. */
  metricWriteUnits(props?: MetricOptions): Metric {
    return this.table.metricConsumedWriteCapacityUnits(props)
  }

  /** Read units that were used. */
  metricReadUnits(props?: MetricOptions): Metric {
    return this.table.metricConsumedReadCapacityUnits(props)
  }

  /** How many reconcilers work on this table. */
  get reconcilers(): number {
    return this.#reconcilerPeriodsSeconds.length
  }

  /** How long a message may lie in the outbox before its last way out, in seconds, beyond the stream's own time. */
  get reconcilerPeriodSeconds(): number {
    return Math.max(0, ...this.#reconcilerPeriodsSeconds)
  }

  /** The retention as far as it is known now, in seconds; final at synthesis. */
  knownRetentionSeconds(): number {
    return this.#retentionSeconds ?? computedRetentionSeconds(this.#redeliveriesSeconds.map((longest) => longest()))
  }

  #grant(
    grantee: IGrantable,
    actions: readonly string[],
    resourceArn: string,
    keyActions: readonly string[] = KEY_ACTIONS,
  ): Grant {
    this.encryptionKey?.grant(grantee, ...keyActions)
    return Grant.addToPrincipal({ grantee, actions: [...actions], resourceArns: [resourceArn] })
  }
}
