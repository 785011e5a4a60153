import { Duration } from 'aws-cdk-lib'

/** From when on an operator is called. Each may be set alone. */
export interface AlarmThresholds {
  /**
   * Messages in a dead-letter queue.
   * @default 1
   */
  readonly deadLetters?: number
  /**
   * Age of the oldest message in a queue.
   * @default Duration.minutes(15)
   */
  readonly oldestMessageAge?: Duration
  /**
   * How far an outbox relay is behind; at 24 hours messages leave the stream.
   * @default Duration.minutes(5)
   */
  readonly iteratorAge?: Duration
  /**
   * Executions in five minutes that lost their lease: they ran longer than it, or were overtaken.
   * @default 5
   */
  readonly leaseLost?: number
  /**
   * Requests in five minutes under a key that another request has used: a client builds its keys wrongly.
   * @default 10
   */
  readonly mismatched?: number
  /**
   * Operations in five minutes whose effect nobody knows: somebody has to settle them.
   * @default 1
   */
  readonly unknown?: number
  /**
   * Calls in five minutes in which the table could not be reached: work is refused meanwhile.
   * @default 10
   */
  readonly storeErrors?: number
}

/** The defaults of {@link AlarmThresholds}. */
export const ALARM_THRESHOLDS: Required<AlarmThresholds> = {
  deadLetters: 1,
  oldestMessageAge: Duration.minutes(15),
  iteratorAge: Duration.minutes(5),
  leaseLost: 5,
  mismatched: 10,
  unknown: 1,
  storeErrors: 10,
}
