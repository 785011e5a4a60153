import type { BatchStatementRequest, BatchStatementResponse, DynamoDBClient } from '@aws-sdk/client-dynamodb'

/** What becomes of one statement of the next batch: refused without being carried out, or carried out and then this. */
export interface StatementFault {
  readonly code?: string
  readonly message?: string
  readonly isApplied?: boolean
  /** Nothing is said of it, and of none after it. */
  readonly isLeftOut?: boolean
  /** Nothing is said of it, and the answers to those after it move up. */
  readonly isSkipped?: boolean
}

/** What happens to a batch of statements. */
export type BatchFault =
  | { readonly statements: Readonly<Record<number, StatementFault>> }
  /** The whole request. */
  | { readonly error: { readonly name: string; readonly status: number } }

/**
 * Lets the local engine refuse statements as the service does, which the engine itself never would. Answers the texts and
 * parameters of every batch so far.
 */
export function withStatementFaults(client: DynamoDBClient, faults: BatchFault[]): BatchStatementRequest[][] {
  const batches: BatchStatementRequest[][] = []
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== 'BatchExecuteStatementCommand') return next(args)
        const input = args.input as { Statements: BatchStatementRequest[] }
        const { Statements } = input
        batches.push(Statements)
        const fault = faults.shift() ?? { statements: {} }
        if ('error' in fault) {
          const { name, status } = fault.error
          throw Object.assign(new Error('refused'), { name, $metadata: { httpStatusCode: status } })
        }
        const { statements } = fault
        const sent = Statements.filter((_, index) => statements[index] === undefined || statements[index].isApplied)
        const answer = sent.length === 0 ? undefined : await next({ ...args, input: { ...input, Statements: sent } })
        const output = answer?.output as { Responses?: BatchStatementResponse[] } | undefined
        const left = [...(output?.Responses ?? [])]
        const Responses: BatchStatementResponse[] = []
        for (const [index] of Statements.entries()) {
          const { code, message, isApplied, isLeftOut, isSkipped } = statements[index] ?? { isApplied: true }
          const own = isApplied ? left.shift() : undefined
          if (isLeftOut) break
          if (isSkipped) continue
          Responses.push(
            code === undefined ? (own ?? {}) : { Error: { Code: code as 'ThrottlingError', Message: message ?? '' } },
          )
        }
        return { response: answer?.response ?? {}, output: { $metadata: {}, ...output, Responses } as never }
      },
    { step: 'initialize' },
  )
  return batches
}
