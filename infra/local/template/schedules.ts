import type { Resource } from './assembly.ts'
import type { LocalSchedule } from './model.ts'
import { asArray, asObject, asOptionalString, asString, UnsupportedTemplateError } from './narrow.ts'
import { identify, type LocalPlace, mappedProperties, type Resolve } from './resolve.ts'

const SECONDS: { readonly [unit: string]: number } = { minute: 60, hour: 3600, day: 86_400 }
// How often and where an event is sent that never reached the function: locally it always does.
const TARGET_HARMLESS = ['Id', 'RoleArn', 'RetryPolicy', 'DeadLetterConfig']

/** Maps a scheduled EventBridge rule: one schedule per target, none when it is disabled. @throws UnsupportedTemplateError. */
export function mapRule(resource: Resource, resolve: Resolve, place: LocalPlace): LocalSchedule[] {
  const mapped = ['Name', 'ScheduleExpression', 'State', 'Targets']
  const { where, properties, common } = schedule(resource, resolve, place, mapped, ['Description', 'Tags'])
  if (properties.State === 'DISABLED') return []
  return asArray(properties.Targets, where).map((target) => ({
    ...common,
    ...targetOf(target, where, { kind: 'rule' }),
  }))
}

/** Maps a schedule of EventBridge Scheduler; none when it is disabled. @throws UnsupportedTemplateError. */
export function mapSchedule(resource: Resource, resolve: Resolve, place: LocalPlace): LocalSchedule[] {
  const mapped = ['Name', 'ScheduleExpression', 'State', 'Target']
  // A rate has no time zone to speak of, and a flexible window only moves a run within it.
  const harmless = ['Description', 'FlexibleTimeWindow', 'GroupName', 'KmsKeyArn', 'ScheduleExpressionTimezone']
  const { where, properties, common } = schedule(resource, resolve, place, mapped, harmless)
  if (properties.State === 'DISABLED') return []
  return [{ ...common, ...targetOf(properties.Target, where, { kind: 'scheduler' }) }]
}

function schedule(
  resource: Resource,
  resolve: Resolve,
  place: LocalPlace,
  mapped: readonly string[],
  harmless: readonly string[],
) {
  const where = `${resource.stack}/${resource.logicalId}`
  // A role has no local name to resolve a reference to; of a target only these are looked at.
  const relevant = { ...resource, properties: withoutUnresolvable(resource.properties, where) }
  const properties = mappedProperties(relevant, resolve, mapped, harmless)
  const everySeconds = rateSeconds(asString(properties.ScheduleExpression, where), where)
  const arn = asString(identify(resource, place).attributes.Arn, where)
  return { where, properties, common: { logicalId: resource.logicalId, arn, everySeconds } }
}

function withoutUnresolvable(properties: Resource['properties'], where: string): Resource['properties'] {
  const strip = (target: unknown): object =>
    Object.fromEntries(Object.entries(asObject(target, where)).filter(([name]) => !TARGET_HARMLESS.includes(name)))
  return {
    ...properties,
    ...(properties.Target !== undefined && { Target: strip(properties.Target) }),
    ...(properties.Targets !== undefined && { Targets: asArray(properties.Targets, where).map(strip) }),
  }
}

function targetOf(
  raw: unknown,
  where: string,
  own: LocalSchedule['event'],
): Pick<LocalSchedule, 'functionName' | 'event'> {
  const { Arn, Input, ...rest } = asObject(raw, where)
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) {
    throw new UnsupportedTemplateError(`${where}: the local runner does not know property ${unknown} of a target`)
  }
  const functionName = /^arn:aws:lambda:[^:]*:[^:]*:function:([^:]+)$/.exec(asString(Arn, where))?.[1]
  if (functionName === undefined) throw new UnsupportedTemplateError(`${where}: only a function as the target`)
  const json = asOptionalString(Input, where)
  return { functionName, event: json === undefined ? own : { kind: 'input', json } }
}

function rateSeconds(expression: string, where: string): number {
  const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? []
  const seconds = SECONDS[unit]
  if (seconds === undefined) {
    throw new UnsupportedTemplateError(`${where}: only rate(… minutes, hours or days), not ${expression}`)
  }
  return Number(count) * seconds
}
