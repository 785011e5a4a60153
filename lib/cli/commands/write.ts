import { checkRev } from '../acts/fence.ts'
import type { Chosen } from '../acts/meaning.ts'
import { type Act, type Insistence, refusalOf } from '../acts/permitted.ts'
import { CliFailure, EXIT } from '../exit.ts'
import { idOf } from '../operation/name.ts'
import { readRecord } from '../operation/read.ts'
import { standingOf } from '../operation/standing.ts'
import { sentence } from '../operation/words.ts'
import { confirm } from '../terminal/confirm.ts'
import type { Context, WriteOptions } from './context.ts'

/** Reads the operation that is to be changed. @throws CliFailure when it is not there, or this cannot be done to it */
export async function choose(
  { connection, nowMs }: Context,
  act: Act,
  given: string | undefined,
  options: WriteOptions,
  insistence?: Insistence,
): Promise<Chosen> {
  const record = await readRecord(connection.store, idOf(given, options), options)
  checkRev(record, options.ifRev)
  const standing = standingOf(record, nowMs)
  const refusal = refusalOf(act, record, standing, insistence)
  if (refusal !== undefined) throw new CliFailure(EXIT.refused, `${refusal} Nothing was written.`)
  return { record, standing }
}

/** Says what stands there and what it would mean, and asks. @throws CliFailure when the answer is not yes */
export async function confirmChange(
  { screen, nowMs }: Context,
  { record, standing }: Chosen,
  meaning: readonly string[],
  { yes = false }: WriteOptions,
): Promise<void> {
  const shown = [
    `${screen.paint.bold(record.id)}  attempt ${record.attempt}, rev ${record.rev}`,
    sentence(standing, nowMs),
  ]
  await confirm(screen, [...shown, '', ...meaning, ''], yes)
}

/** Says what was done. */
export function done({ screen }: Context, { record }: Chosen, result: string, sentences: readonly string[]): void {
  screen.json({ id: record.id, result, fromRev: record.rev })
  for (const text of sentences) screen.line(text)
}
