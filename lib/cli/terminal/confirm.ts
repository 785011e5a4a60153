import { createInterface } from 'node:readline/promises'
import { CliFailure, EXIT } from '../exit.ts'
import type { Screen } from './screen.ts'

/**
 * Asks whether it shall be done, having said what it means. Without a person at the terminal `--yes` is the answer.
 * @throws CliFailure when the answer is not yes: nothing was written
 */
export async function confirm(screen: Screen, meaning: readonly string[], isSaid: boolean): Promise<void> {
  for (const sentence of meaning) screen.note(sentence)
  if (isSaid) return
  if (!screen.isTerminal || process.stdin.isTTY !== true) {
    throw new CliFailure(EXIT.unconfirmed, 'Nothing was written. Say --yes when this is what you want.')
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // Ctrl-D or Ctrl-C at the question is a no, too.
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')))
  const answer = await Promise.race([terminal.question('Type "yes" to do it: '), closed])
  terminal.close()
  if (answer.trim().toLowerCase() !== 'yes') throw new CliFailure(EXIT.unconfirmed, 'Nothing was written.')
}
