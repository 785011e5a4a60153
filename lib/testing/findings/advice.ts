import type { OperationRecord } from '../../record/record.ts'
import type { Run } from '../explorer/sequence.ts'
import { causeOf, type Finding, isTooOften } from './judge.ts'

/** What to do about a finding, in a sentence or two. */
export function adviceFor(finding: Finding, run: Run, undisturbed: Run): string {
  if (!isTooOften(finding)) return adviceForMissing(finding, run.records)
  const { name } = finding
  const facts = {
    hasFault: run.schedule.size > 0,
    operations: run.records.length,
    intendedOperations: undisturbed.intendedOperations,
  }
  switch (causeOf(finding, run.calls, facts)) {
    case 'several-operations':
      return `The deliveries are not the same operation: their key or scope differs. Make both of what the event means, such as an order's id, and of nothing that is new in each delivery.`
    case 'before-claim':
      return `It is done in every delivery, also of an operation that has ended. Do it inside the handler, behind the claim.`
    case 'bare':
      return `Nothing tells the attempt that takes over that it is done. Wrap it in operation.step("${name}", ({ idempotencyKey }) => …) and pass the key on to whoever carries it out; or make it a write of operation.commit(…).`
    case 'no-key':
      return `A step runs again where nobody recorded that it was done. Pass its idempotencyKey on to whoever carries it out: effect("${name}", { idempotencyKey }). Where there is no such key, choose: onUnknown: 'stop' and expect 'at-most-once', or expect 'at-least-once'.`
    case 'within-step':
      return `It is made several times by one run of its step. Give each call a step of its own.`
    case 'other-keys':
      return `It was given different idempotency keys, so whoever carries it out cannot know that it is the same. Pass on the idempotencyKey of its step, which is the same in every attempt.`
  }
}

function adviceForMissing({ name }: Finding, records: readonly OperationRecord[]): string {
  const has = (status: OperationRecord['status']) => records.some((record) => record.status === status)
  if (has('UNKNOWN')) {
    return `The operation has ended as UNKNOWN, and only an operator or a probe can tell whether it happened. Expect 'at-most-once'; or pass the step's idempotencyKey on instead of stopping; or give the step a probe.`
  }
  if (has('IN_PROGRESS')) {
    return `The operation stays in progress, as takeover: 'never' asks for: only an operator can end it. Expect 'at-most-once'.`
  }
  if (has('FAILED')) {
    return `The operation has ended as FAILED, and is not run again. Throw RetryLater where running it again is safe, or declare effects: 'steps-only'.`
  }
  return `The operation has ended without it. Make sure that nothing is returned, or caught, before "${name}" is done.`
}
