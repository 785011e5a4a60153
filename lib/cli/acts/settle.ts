import type { OperationRecord } from '../../core/record.ts'
import { createReport } from '../../core/report.ts'
import { type Settlement, settle } from '../../core/settle.ts'
import type { Store } from '../../core/store.ts'
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
