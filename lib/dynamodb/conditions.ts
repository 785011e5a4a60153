import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Status } from '../record/record.ts'
import type { Condition } from '../record/store.ts'
import { attributesOf } from './attributes.ts'

/** A condition as DynamoDB takes it. Every attribute goes through an alias: status, token and others are reserved words. */
export interface ConditionExpression {
  readonly expression: string
  readonly names: Readonly<Record<string, string>>
  readonly values: Readonly<Record<string, AttributeValue>>
}

const STATUS_VALUES: Readonly<Record<string, AttributeValue>> = /* @__PURE__ */ attributesOf({
  ':inProgress': 'IN_PROGRESS',
  ':completed': 'COMPLETED',
  ':failed': 'FAILED',
  ':retryable': 'RETRYABLE',
  ':waiting': 'WAITING',
  ':released': 'RELEASED',
} satisfies Record<string, Status>)

/** `countsAsAbsent` of lib/record/record.ts, in DynamoDB's words. The contract suite holds the two together. */
const ABSENT = [
  'attribute_not_exists(#pk)',
  'OR (#createdAtMs < :nowMs AND (',
  '#status = :released',
  'OR (#status IN (:completed, :failed) AND #expiresAt <= :nowSeconds)',
  'OR (#status IN (:inProgress, :retryable, :waiting) AND #expiresAt <= :nowSeconds AND size(#steps) = :none',
  'AND (#status <> :inProgress OR #leaseUntil < :liveUntil))',
  '))',
].join(' ')

const ABSENT_NAMES: Readonly<Record<string, string>> = /* @__PURE__ */ aliases([
  'pk',
  'createdAtMs',
  'status',
  'expiresAt',
  'steps',
  'leaseUntil',
])
const SEEN_NAMES: Readonly<Record<string, string>> = /* @__PURE__ */ aliases(['token', 'rev'])

/** Which attributes the condition reads, and the placeholders of the values it compares them with. */
export function conditionExpression(condition: Condition): ConditionExpression {
  switch (condition.kind) {
    case 'absent': {
      const { nowMs, clockSkewMs } = condition.moment
      return {
        expression: ABSENT,
        names: ABSENT_NAMES,
        values: {
          ...STATUS_VALUES,
          ...attributesOf({
            ':nowMs': Math.floor(nowMs),
            ':nowSeconds': Math.floor(nowMs / 1000),
            ':liveUntil': nowMs - clockSkewMs,
            ':none': 0,
          }),
        },
      }
    }
    case 'seen':
      return {
        expression: '#token = :seenToken AND #rev = :seenRev',
        names: SEEN_NAMES,
        values: attributesOf({ ':seenToken': condition.token, ':seenRev': condition.rev }),
      }
    case 'held': {
      const held = '#token = :mine AND #status = :inProgress'
      const values = { ':mine': condition.token, ':inProgress': 'IN_PROGRESS' }
      if (condition.signals === undefined) {
        return { expression: held, names: aliases(['token', 'status']), values: attributesOf(values) }
      }
      return {
        expression: `${held} AND (attribute_not_exists(#signals) OR size(#signals) <= :seenSignals)`,
        names: aliases(['token', 'status', 'signals']),
        values: attributesOf({ ...values, ':seenSignals': condition.signals }),
      }
    }
    case 'committed':
      return {
        expression: '#token = :mine AND #status = :completed AND attribute_not_exists(#wire)',
        names: aliases(['token', 'status', 'wire']),
        values: attributesOf({ ':mine': condition.token, ':completed': 'COMPLETED' }),
      }
  }
}

/** `#name` for each attribute named. */
export function aliases(names: Iterable<string>): Record<string, string> {
  return Object.fromEntries(Array.from(names, (name) => [`#${name}`, name]))
}
