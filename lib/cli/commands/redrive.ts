import type { Command } from 'commander'
import { createSender } from '../../outbox/sender.ts'
import { meaningOf } from '../acts/meaning.ts'
import { redriveShown } from '../acts/redrive.ts'
import { oneLine } from '../terminal/text.ts'
import { type Context, perform, type WriteOptions, withWrite } from './context.ts'
import { choose, confirmChange, done } from './write.ts'

/** `redrive`: delivers the stored request of an operation again. */
export function addRedrive(program: Command): void {
  withWrite(program.command('redrive'))
    .description('deliver its stored request again now, to the queue or function it came from')
    .action((id: string | undefined, options: WriteOptions) =>
      perform(options, (context) => redrive(context, id, options)),
    )
}

async function redrive(context: Context, id: string | undefined, options: WriteOptions): Promise<undefined> {
  const chosen = await choose(context, 'redrive', id, options)
  const { record } = chosen
  const [target = ''] = Object.values(record.redrive?.target ?? {})
  await confirmChange(context, chosen, meaningOf('redrive', chosen), options)
  await redriveShown(context.connection.store, createSender(), record)
  done(context, chosen, 'redriven', [`Its request is on its way to ${oneLine(target)}.`])
}
