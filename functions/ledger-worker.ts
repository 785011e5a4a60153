import { ledgerWorker } from './ledger/apply-balances.ts'
import { environmentVariable } from './shared/environment.ts'
import { serviceIdempotency } from './shared/idempotency.ts'

export const handler = ledgerWorker({
  idempotency: serviceIdempotency('balances'),
  balancesTable: environmentVariable('BALANCES_TABLE'),
})
