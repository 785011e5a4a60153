import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { RecordChange, StandingCondition } from '../record/store.ts'
import { attributesOf } from './attributes.ts'
import { aliases, conditionExpression } from './conditions.ts'
import { itemKey, recordKey } from './items.ts'

/** An update of one item, as UpdateItem and a transaction take it. */
export interface ItemUpdate {
  readonly Key: Record<string, AttributeValue>
  readonly UpdateExpression: string
  readonly ConditionExpression: string
  readonly ExpressionAttributeNames: Record<string, string>
  readonly ExpressionAttributeValues: Record<string, AttributeValue>
}

/** The change of a record as an update: one builder, so that an update and a commit can never differ. */
export function recordUpdate(id: string, { step, ...change }: RecordChange, condition: StandingCondition): ItemUpdate {
  const { expression, names, values } = conditionExpression(condition)
  const fields = assignments(change)
  const stepPath = '#steps.#step'
  return {
    Key: attributesOf(recordKey(id)),
    UpdateExpression: clauses([
      ['SET', [...fields.set, ...(step?.record ? [`${stepPath} = :step`] : [])]],
      ['REMOVE', [...fields.removed, ...(step && !step.record ? [stepPath] : [])]],
      ['ADD', ['#rev :one']],
    ]),
    ConditionExpression: expression,
    ExpressionAttributeNames: {
      ...fields.names,
      ...names,
      '#rev': 'rev',
      ...(step && { '#steps': 'steps', '#step': step.name }),
    },
    ExpressionAttributeValues: {
      ...values,
      ...attributesOf({ ...fields.values, ':step': step?.record, ':one': 1 }),
    },
  }
}

/** A change of at least one attribute of an item beside a record, where one of its attributes is as expected. */
export function besideUpdate(
  id: string,
  sk: string,
  set: Readonly<Record<string, unknown>>,
  expected: { readonly attribute: string; readonly value: string },
): ItemUpdate {
  const fields = assignments(set)
  return {
    Key: attributesOf(itemKey(id, sk)),
    UpdateExpression: clauses([
      ['SET', fields.set],
      ['REMOVE', fields.removed],
    ]),
    ConditionExpression: `#${expected.attribute} = :expectedValue`,
    ExpressionAttributeNames: { ...fields.names, ...aliases([expected.attribute]) },
    ExpressionAttributeValues: attributesOf({ ...fields.values, ':expectedValue': expected.value }),
  }
}

function assignments(fields: object) {
  const set: string[] = []
  const removed: string[] = []
  const names: Record<string, string> = {}
  const values: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    names[`#${name}`] = name
    if (value === undefined) removed.push(`#${name}`)
    else {
      set.push(`#${name} = :${name}`)
      values[`:${name}`] = value
    }
  }
  return { set, removed, names, values }
}

function clauses(parts: readonly (readonly [keyword: string, terms: readonly string[]])[]): string {
  return parts.flatMap(([keyword, terms]) => (terms.length > 0 ? [`${keyword} ${terms.join(', ')}`] : [])).join(' ')
}
