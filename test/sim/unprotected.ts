import type { OperationRecord } from '../../lib/index.ts'
import type { Process } from './process.ts'
import { isFinished, isOver } from './write-rules.ts'

/** Which executions run without a claim, because the store could not be reached and the options say so. */
export interface Unprotected {
  /** The process says that it runs the operation so. */
  begins(process: Process, id: string): void
  has(process: Process, id: string): boolean
  /** Some process has run it so. */
  wasRun(id: string): boolean
  /** A process hears how the record stands. */
  hears(process: Process, id: string, record: OperationRecord | undefined): void
  /** Whether what the process heard last says that the operation has begun. */
  knowsBegun(process: Process, id: string): boolean
}

export function createUnprotected(): Unprotected {
  const running = new Set<string>()
  const operations = new Set<string>()
  const begun = new Set<string>()
  const of = ({ name }: Process, id: string) => `${name} ${id}`
  return {
    begins(process, id) {
      running.add(of(process, id))
      operations.add(id)
    },
    has: (process, id) => running.has(of(process, id)),
    wasRun: (id) => operations.has(id),
    hears(process, id, record) {
      const isBegun = record !== undefined && !isOver(record, process.clock.now()) && !isFinished(record)
      if (isBegun) begun.add(of(process, id))
      else begun.delete(of(process, id))
    },
    knowsBegun: (process, id) => begun.has(of(process, id)),
  }
}
