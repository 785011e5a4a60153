import { judge } from '../../checks/check.ts'
import { RELAY_CHECKS } from '../../checks/service-checks.ts'
import { type Finding, finding } from './finding.ts'
import type { EventSource } from './function.ts'

/** The event sources by which a function reads the table's own stream: it is an outbox relay. */
export function relaySources(sources: readonly EventSource[], tableName: string): readonly EventSource[] {
  return sources.filter(({ arn }) => arn.includes(`:table/${tableName}/stream/`))
}

/** Judges how a relay reads the table's stream, by the rules that its construct in `lambda-once/cdk` refuses by. */
export function relayFindings(source: EventSource): readonly Finding[] {
  const { arn, stream, reportsBatchItemFailures, filters } = source
  if (stream === undefined) return []
  const broken = judge(RELAY_CHECKS, {
    ...stream,
    reportsBatchItemFailures,
    filters,
    // Who else works on the table is not known here.
    reconcilers: 0,
    acknowledgeNoReconciler: true,
  })
  if (broken.length === 0) return [finding('relay', 'ok', `${arn}: the relay reads it as it has to.`)]
  return broken.map(({ id, severity, message }) =>
    finding(id, severity === 'refused' ? 'problem' : 'warning', `${arn}: ${message}`),
  )
}
