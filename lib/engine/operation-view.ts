import type { LeaseWatch } from '../lease/lease-watch.ts'
import type { Operation } from '../operation/operation.ts'
import { fenceOf } from '../record/identity.ts'
import type { OperationRecord } from '../record/record.ts'

/** Builds the work's view of an operation over what the engine lets it do. */
export function operationView(
  view: {
    readonly record: Pick<OperationRecord, 'id' | 'attempt' | 'createdAtMs' | 'metadata'>
    readonly key: string
    readonly lease: LeaseWatch
  } & Pick<Operation, 'step' | 'extend' | 'release' | 'commit' | 'delay' | 'wait' | 'signals'>,
): Operation {
  return Object.freeze({
    id: view.record.id,
    key: view.key,
    attempt: view.record.attempt,
    metadata: view.record.metadata ?? {},
    fence: fenceOf(view.record),
    get signal() {
      return view.lease.signal
    },
    step: view.step,
    extend: view.extend,
    release: view.release,
    commit: view.commit,
    delay: view.delay,
    wait: view.wait,
    signals: view.signals,
  })
}
