import { Duration } from 'aws-cdk-lib'
import { type Alarm, Dashboard, type IAlarmAction, type IWidget, TextWidget } from 'aws-cdk-lib/aws-cloudwatch'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import { refuse } from '../checks/refuse.ts'
import type { IdempotentApi } from '../idempotent-api.ts'
import { IdempotentFunction } from '../idempotent-function.ts'
import type { OutboxRelay } from '../outbox-relay.ts'
import type { IdempotentQueue } from '../queue/idempotent-queue.ts'
import type { Reconciler } from '../reconciler.ts'
import type { IdempotencyTable } from '../table/idempotency-table.ts'
import { alarmsFor } from './alarms.ts'
import { ALARM_THRESHOLDS, type AlarmThresholds } from './thresholds.ts'
import type { Watched } from './watched.ts'
import { widgetsFor } from './widgets.ts'

/** Properties of {@link IdempotencyDashboard}. */
export interface IdempotencyDashboardProps {
  /** The table with the records. */
  readonly table: IdempotencyTable
  /** The operation namespaces of the application, as `createIdempotency` names them. */
  readonly namespaces: readonly string[]
  /**
   * Queues whose age, backlog and dead letters are watched.
   * @default - none
   */
  readonly queues?: readonly IdempotentQueue[]
  /**
   * Functions whose errors, throttles and durations are shown.
   * @default - none
   */
  readonly functions?: readonly (IdempotentFunction | IFunction)[]
  /**
   * What callers see.
   * @default - none
   */
  readonly api?: IdempotentApi
  /**
   * Whether committed messages go out in time.
   * @default - none
   */
  readonly relay?: OutboxRelay
  /**
   * Whether what is left behind is looked for.
   * @default - none
   */
  readonly reconciler?: Reconciler
  /**
   * From when on an alarm calls.
   * @default - see `AlarmThresholds`
   */
  readonly thresholds?: AlarmThresholds
  /**
   * What an alarm does, such as `new SnsAction(topic)`.
   * @default - nothing: it is seen on the dashboard only
   */
  readonly alarmActions?: readonly IAlarmAction[]
}

/**
 * Alarms, and a dashboard that answers an operator's questions from the top: is anything lost, is anything waiting, does
 * the protection work, does the table.
 *
 * @example
 * new IdempotencyDashboard(this, 'Watch', { table, namespaces: ['payments'], queues: [payments], functions: [worker] })
 */
export class IdempotencyDashboard extends Construct {
  /** What an operator looks at first. */
  readonly dashboard: Dashboard
  /** In no order; each says in its description what to do. */
  readonly alarms: readonly Alarm[]

  constructor(scope: Construct, id: string, props: IdempotencyDashboardProps) {
    super(scope, id)
    if (props.namespaces.length === 0)
      refuse(this, 'namespaces is empty: name the operation namespaces that are to be watched.')
    const { thresholds, alarmActions = [], functions = [], queues = [], ...rest } = props
    const watched: Watched = {
      ...rest,
      queues,
      functions: functions.map((fn) => (fn instanceof IdempotentFunction ? fn.function : fn)),
    }
    this.alarms = alarmsFor(this, watched, { ...ALARM_THRESHOLDS, ...thresholds })
    for (const alarm of this.alarms) alarm.addAlarmAction(...alarmActions)
    this.dashboard = new Dashboard(this, 'Default', {
      defaultInterval: Duration.days(1),
      widgets: widgetsFor(watched, this.alarms).map(({ question, widgets }) => [heading(question), ...widgets]),
    })
  }
}

function heading(markdown: string): IWidget {
  return new TextWidget({ markdown: `## ${markdown}`, width: 24, height: 1 })
}
