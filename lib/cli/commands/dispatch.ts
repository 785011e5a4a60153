import type { Command } from 'commander'
import type { DispatchResult } from '../../outbox/dispatch.ts'
import { createSender } from '../../outbox/sender.ts'
import { dispatchMeaning, dispatchShown, whyNotSent } from '../acts/dispatch.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { idOf } from '../operation/name.ts'
import { readOperation, type StoredMessage } from '../operation/read.ts'
import { troubleOf } from '../operation/search.ts'
import { confirm } from '../terminal/confirm.ts'
import { count } from '../terminal/text.ts'
import { type Context, collect, type OperationOptions, perform, withOperation } from './context.ts'
import { messageRows } from './rows.ts'

type Options = OperationOptions & {
  readonly yes?: boolean
  readonly message?: readonly string[]
  readonly pending?: boolean
}

/** `dispatch`: sends what nobody has sent of the outbox of one operation. */
export function addDispatch(program: Command): void {
  withOperation(program.command('dispatch'))
    .description('send its messages that were refused, or that nobody has sent, under the same ids as before')
    .option('--message <id>', 'only the message with this id; more than once for several', collect)
    .option('--pending', 'also those that the relay is only just going to send')
    .option('-y, --yes', 'do it without asking')
    .action((id: string | undefined, options: Options) => perform(options, (context) => dispatch(context, id, options)))
}

async function dispatch(context: Context, given: string | undefined, options: Options): Promise<ExitCode | undefined> {
  const { connection, screen, nowMs } = context
  const { store } = connection
  const id = idOf(given, options)
  const { messages } = await readOperation(store, id, options)
  const chosen = messages.filter((message) => isChosen(message, options, nowMs))
  if (chosen.length === 0) {
    screen.json({ id, messages: [] })
    screen.line(`${count(messages.length, 'message')} in its outbox, and none that somebody has to send.`)
    return undefined
  }
  screen.table(['STATE', 'TO', 'CREATED', 'SINCE', 'BODY'], await messageRows(context.viewing({}), chosen))
  await confirm(screen, ['', dispatchMeaning(chosen.length)], options.yes ?? false)
  const sender = createSender()
  const results: { readonly messageId: string | undefined; readonly result: DispatchResult }[] = []
  // One after another: what one operation sends stays in order.
  for (const message of chosen) {
    const messageId = message.found.kind === 'entry' ? message.found.entry.messageId : undefined
    results.push({ messageId, result: await dispatchShown(store, sender, id, message) })
  }
  screen.json({
    id,
    messages: results.map(({ messageId, result }) => ({ messageId, result: result.kind, why: whyNotSent(result) })),
  })
  for (const { messageId, result } of results) {
    const why = whyNotSent(result)
    screen.line(`${messageId}  ${result.kind}${why === undefined ? '' : `: ${why}`}`)
  }
  return results.every(({ result }) => result.kind === 'dispatched') ? EXIT.done : EXIT.notSent
}

function isChosen(message: StoredMessage, { message: ids, pending = false }: Options, nowMs: number): boolean {
  const { found } = message
  if (found.kind === 'unreadable' || found.entry.state === 'dispatched') return false
  if (ids !== undefined) return ids.includes(found.entry.messageId)
  return pending || troubleOf(message, nowMs) !== undefined
}
