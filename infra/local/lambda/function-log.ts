import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { InvocationResult } from './invocation.ts'

/** The log file of a function: what it wrote, between the start and the end of its invocations. */
export interface FunctionLog {
  line(text: string): void
  /** @param where - what the invocation runs in. */
  started(requestId: string, where: string): void
  ended(requestId: string, result: InvocationResult): void
  /** Resolves when everything is on disk. */
  close(): Promise<void>
}

/** Opens `<name>.log` for appending. */
export function openFunctionLog(directory: string, name: string): FunctionLog {
  mkdirSync(directory, { recursive: true })
  const file = createWriteStream(join(directory, `${name}.log`), { flags: 'a' })
  const line = (text: string): void => void file.write(`${text}\n`)
  return Object.freeze({
    line,
    started: (requestId: string, where: string) => line(`START RequestId: ${requestId} ${where}`),
    ended: (requestId: string, result: InvocationResult) => {
      const how = result.kind === 'error' ? `${result.errorType} ${result.errorMessage}` : result.kind
      line(`END RequestId: ${requestId} ${how}`)
    },
    close: () => new Promise<void>((resolve) => file.end(resolve)),
  })
}
