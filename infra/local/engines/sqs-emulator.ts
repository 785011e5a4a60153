import { fileURLToPath } from 'node:url'
import { firstJsonLine, spawnTied } from './tied-process.ts'

/** An SQS emulator (fauxqs) in a process of its own. */
export interface SqsEmulator {
  /** What goes into the `endpoint` of a client, or AWS_ENDPOINT_URL_SQS. */
  readonly endpoint: string
  readonly pid: number
  /** Ends the emulator and resolves when its process is gone; its messages are gone too. */
  stop(): Promise<void>
}

/**
 * Starts the SQS emulator and resolves when it listens. It dies with this process, however that ends.
 *
 * @param options.port - a fixed TCP port; a free one by default.
 * @throws Error when it doesn't start.
 */
export async function startSqsEmulator(options: { port?: number } = {}): Promise<SqsEmulator> {
  const entry = fileURLToPath(new URL('./sqs-emulator-process.ts', import.meta.url))
  const child = spawnTied(process.execPath, [entry, String(options.port ?? 0)])
  const ready = await firstJsonLine(child, 'the SQS emulator')
  return Object.freeze({ endpoint: (ready as { endpoint: string }).endpoint, pid: child.pid, stop: child.kill })
}
