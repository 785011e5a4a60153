import type { Command } from 'commander'
import { RECEIPT_PREFIX } from '../../record/record.ts'
import { idOf } from '../operation/name.ts'
import { readOperation, receiptOf } from '../operation/read.ts'
import { receiptView } from '../operation/view.ts'
import { type Context, type OperationOptions, perform, withOperation } from './context.ts'
import { receiptRows } from './rows.ts'

type Options = OperationOptions & { readonly showValues?: boolean }

/** `receipts`: the evidence of one operation, whether its record is still there or not. */
export function addReceipts(program: Command): void {
  withOperation(program.command('receipts'))
    .description('the receipts of one operation, oldest first; they outlive its record')
    .option('--show-values', 'show what is in them')
    .action((id: string | undefined, options: Options) => perform(options, (context) => receipts(context, id, options)))
}

async function receipts(context: Context, given: string | undefined, options: Options): Promise<undefined> {
  const { connection, screen } = context
  const id = idOf(given, options)
  const found = (await connection.store.listBeside(id, RECEIPT_PREFIX)).map(receiptOf)
  // Without receipts it makes a difference whether the operation is there.
  if (found.length === 0) await readOperation(connection.store, id, options)
  const viewing = context.viewing(options)
  screen.json({ id, receipts: await Promise.all(found.map((receipt) => receiptView(viewing, receipt))) })
  if (found.length === 0) screen.line(`${id} has no receipts.`)
  else screen.table(['KIND', 'AT', 'ATTEMPT', 'STEP', 'VALUE'], await receiptRows(viewing, found))
}
