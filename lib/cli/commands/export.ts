import type { Command } from 'commander'
import { fromBesideItem, toRecord } from '../../dynamodb/items.ts'
import { OUTBOX_PREFIX, RECEIPT_PREFIX, RECORD_SORT_KEY } from '../../record/record.ts'
import { CliFailure, EXIT } from '../exit.ts'
import { idOf } from '../operation/name.ts'
import { messageOf, readOperation, receiptOf } from '../operation/read.ts'
import { inNamespace } from '../operation/search.ts'
import { messageView, receiptView, recordView, type Viewing } from '../operation/view.ts'
import { type Item, scan } from '../scan.ts'
import { count } from '../terminal/text.ts'
import { type Context, type OperationOptions, perform, withOperation } from './context.ts'

type Options = OperationOptions & { readonly all?: boolean; readonly showValues?: boolean }

/** `export`: evidence as JSON lines. */
export function addExport(program: Command): void {
  withOperation(program.command('export'))
    .description('evidence as JSON lines on stdout: one operation, or with --all every one of the table or a namespace')
    .option('--all', 'the whole table; with --namespace only that')
    .option('--show-values', 'with stored outcomes, requests, receipts and bodies')
    .action((id: string | undefined, options: Options) =>
      perform(options, (context) => exportEvidence(context, id, options)),
    )
}

async function exportEvidence(context: Context, given: string | undefined, options: Options): Promise<undefined> {
  const viewing = context.viewing(options)
  if (options.all) {
    if (given !== undefined || options.key !== undefined) {
      throw new CliFailure(EXIT.usage, 'Either one operation, or --all; not both.')
    }
    await exportAll(context, viewing, options.namespace)
    return
  }
  const { id, record, receipts, messages } = await readOperation(
    context.connection.store,
    idOf(given, options),
    options,
  )
  const { screen } = context
  if (record !== undefined) await screen.record({ type: 'operation', ...(await recordView(viewing, record)) })
  for (const receipt of receipts) await screen.record({ type: 'receipt', id, ...(await receiptView(viewing, receipt)) })
  for (const message of messages) await screen.record({ type: 'message', id, ...(await messageView(viewing, message)) })
}

async function exportAll(
  { connection, screen }: Context,
  viewing: Viewing,
  namespace: string | undefined,
): Promise<void> {
  let lines = 0
  const scanned = await scan(
    connection,
    {
      FilterExpression: inNamespace(
        ['#sk = :record', 'begins_with(#sk, :receipt)', 'begins_with(#sk, :outbox)'],
        namespace,
      ),
      ExpressionAttributeNames: { '#sk': 'sk', ...(namespace !== undefined && { '#pk': 'pk' }) },
      ExpressionAttributeValues: {
        ':record': RECORD_SORT_KEY,
        ':receipt': RECEIPT_PREFIX,
        ':outbox': OUTBOX_PREFIX,
        ...(namespace !== undefined && { ':namespace': `${namespace}#` }),
      },
    },
    async (item) => {
      await screen.record(await lineOf(viewing, item))
      lines += 1
      return true
    },
    screen.progress,
  )
  screen.note(`${count(lines, 'line')}, ${count(scanned.items, 'item')} of the table read.`)
}

async function lineOf(viewing: Viewing, item: Item): Promise<Readonly<Record<string, unknown>>> {
  const id = String(item.pk)
  if (item.sk === RECORD_SORT_KEY) return { type: 'operation', ...(await recordView(viewing, toRecord({ ...item }))) }
  const beside = fromBesideItem({ ...item })
  return beside.sk.startsWith(RECEIPT_PREFIX)
    ? { type: 'receipt', id, ...(await receiptView(viewing, receiptOf(beside))) }
    : { type: 'message', id, ...(await messageView(viewing, messageOf(beside))) }
}
