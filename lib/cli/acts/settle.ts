import { type Settlement, settle } from '../../idempotency/settle.ts'
import { createReport } from '../../operation/report.ts'
import type { OperationRecord } from '../../record/record.ts'
import type { Store } from '../../record/store.ts'
import { changed, fencedStore } from './fence.ts'
import { type EngineOptions, settingsFor } from './settings.ts'

/** Ends the operation, or lets it run again, as `idempotency.settle` does; only as it was shown. @throws CliFailure */
export async function settleShown(
  store: Store,
  shown: OperationRecord,
  settlement: Settlement,
  options: EngineOptions,
): Promise<void> {
  const settings = settingsFor(fencedStore(store, shown), shown.id, options)
  const result = await settle(settings, createReport(settings), shown.id, settlement)
  if (result !== 'settled') throw changed()
}
