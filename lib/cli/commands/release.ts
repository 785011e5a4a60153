import type { Command } from 'commander'
import { meaningOf } from '../acts/meaning.ts'
import { releaseShown } from '../acts/release.ts'
import { type Context, perform, type WriteOptions, withWrite } from './context.ts'
import { choose, confirmChange, done } from './write.ts'

type Options = WriteOptions & { readonly forgetSteps?: boolean; readonly holderIsGone?: boolean }

/** `release`: forgets an operation, so that its key is free. */
export function addRelease(program: Command): void {
  withWrite(program.command('release'))
    .description('forget it: the next request with its key, a corrected one too, begins anew')
    .option('--forget-steps', 'also when steps are recorded, which may then be done again')
    .option('--holder-is-gone', 'also an admission key whose time is not over')
    .action((id: string | undefined, options: Options) => perform(options, (context) => release(context, id, options)))
}

async function release(context: Context, id: string | undefined, options: Options): Promise<undefined> {
  const chosen = await choose(context, 'release', id, options, {
    forgetsSteps: options.forgetSteps ?? false,
    isHolderGone: options.holderIsGone ?? false,
  })
  await confirmChange(context, chosen, meaningOf('release', chosen), options)
  await releaseShown(context.connection.store, chosen.record)
  done(context, chosen, 'released', ['It is released: the next request with its key begins anew.'])
}
