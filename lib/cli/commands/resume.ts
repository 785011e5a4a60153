import type { Command } from 'commander'
import { meaningOf } from '../acts/meaning.ts'
import { settleShown } from '../acts/settle.ts'
import { type Context, perform, type WriteOptions, withWrite } from './context.ts'
import { choose, confirmChange, done } from './write.ts'

type Options = WriteOptions & { readonly relay?: boolean }

/** `resume`: lets an operation run again, its recorded steps kept. */
export function addResume(program: Command): void {
  withWrite(program.command('resume'))
    .description('let it run again: its finished steps are kept, and the next delivery continues it')
    .option('--relay', 'an outbox relay is deployed: put its stored request into the outbox with the same write')
    .action((id: string | undefined, options: Options) => perform(options, (context) => resume(context, id, options)))
}

async function resume(context: Context, id: string | undefined, options: Options): Promise<undefined> {
  const chosen = await choose(context, 'resume', id, options)
  const { record } = chosen
  await confirmChange(context, chosen, meaningOf('resume', chosen), options)
  await settleShown(context.connection.store, record, { rerun: true }, { relay: options.relay ?? false })
  const how =
    record.redrive === undefined
      ? 'Repeat its request, or let its queue redeliver.'
      : options.relay
        ? 'Its stored request is in the outbox, and the relay sends it.'
        : `A reconciler, a redelivery or \`lambda-once redrive '${record.id}'\` brings its request.`
  done(context, chosen, 'resumed', [`It may run again. ${how}`])
}
