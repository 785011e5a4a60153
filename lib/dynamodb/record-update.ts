import type { RecordChange, StandingCondition } from '../record/store.ts'
import { aliases, conditionExpression } from './conditions.ts'
import { itemKey, recordKey } from './items.ts'

/** An update of one item, as UpdateItem and a transaction take it. */
export interface ItemUpdate {
  readonly Key: Record<string, string>
  readonly UpdateExpression: string
  readonly ConditionExpression: string
  readonly ExpressionAttributeNames: Record<string, string>
  readonly ExpressionAttributeValues: Record<string, unknown>
}

/** The change of a record as an update: one builder, so that an update and a commit can never differ. */
export function recordUpdate(id: string, { step, ...change }: RecordChange, condition: StandingCondition): ItemUpdate {
  const { expression, names, values } = conditionExpression(condition)
  const fields = assignments(change)
  const stepPath = '#steps.#step'
  return {
    Key: recordKey(id),
    UpdateExpression: clauses([
      ['SET', [...fields.set, ...(step?.record ? [`${stepPath} = :step`] : [])]],
      ['REMOVE', [...fields.removed, ...(step && !step.record ? [stepPath] : [])]],
      ['ADD', ['#rev :one']],
    ]),
    ConditionExpression: expression,
    ExpressionAttributeNames: {
      ...fields.names,
      ...aliases([...names, 'rev']),
      ...(step && { '#steps': 'steps', '#step': step.name }),
    },
    ExpressionAttributeValues: {
      ...values,
      ...fields.values,
      ...(step?.record && { ':step': step.record }),
      ':one': 1,
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
    Key: itemKey(id, sk),
    UpdateExpression: clauses([
      ['SET', fields.set],
      ['REMOVE', fields.removed],
    ]),
    ConditionExpression: `#${expected.attribute} = :expectedValue`,
    ExpressionAttributeNames: { ...fields.names, ...aliases([expected.attribute]) },
    ExpressionAttributeValues: { ...fields.values, ':expectedValue': expected.value },
  }
}

function assignments(fields: object) {
  const entries = Object.entries(fields)
  const set = entries.filter(([, value]) => value !== undefined)
  const removed = entries.filter(([, value]) => value === undefined)
  return {
    set: set.map(([name]) => `#${name} = :${name}`),
    removed: removed.map(([name]) => `#${name}`),
    names: aliases(entries.map(([name]) => name)),
    values: Object.fromEntries(set.map(([name, value]) => [`:${name}`, value])),
  }
}

function clauses(parts: readonly (readonly [keyword: string, terms: readonly string[]])[]): string {
  return parts.flatMap(([keyword, terms]) => (terms.length > 0 ? [`${keyword} ${terms.join(', ')}`] : [])).join(' ')
}
