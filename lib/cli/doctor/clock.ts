import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import type { Connection } from '../connection.ts'
import { CLOCK_SKEW_MS } from '../operation/standing.ts'
import { span } from '../terminal/text.ts'
import { type Finding, finding } from './finding.ts'

/** HTTP's Date has whole seconds, so that the answer was made up to one later than it says. */
const RESOLUTION_MS = 1_000

/** By how much this machine's clock is ahead of DynamoDB's: the least and the most it can be, in ms. */
export interface Offset {
  readonly leastMs: number
  readonly mostMs: number
}

/** The clock's offset, from what the answer says and when it was asked for and came. `undefined`: the answer names no time. */
export function offsetOf(date: string | undefined, sentAtMs: number, answeredAtMs: number): Offset | undefined {
  const serverMs = date === undefined ? Number.NaN : Date.parse(date)
  if (Number.isNaN(serverMs)) return undefined
  return { leastMs: sentAtMs - serverMs - RESOLUTION_MS, mostMs: answeredAtMs - serverMs }
}

/** Judges the offset: what this command says of leases, and writes, is by this machine's clock. */
export function clockFinding(offset: Offset | undefined): Finding {
  if (offset === undefined) return finding('clock', 'skipped', 'The answers name no time.')
  const { leastMs, mostMs } = offset
  const surelyMs = leastMs > 0 ? leastMs : mostMs < 0 ? -mostMs : 0
  if (surelyMs <= CLOCK_SKEW_MS) return finding('clock', 'ok', 'This machine’s clock agrees with DynamoDB’s.')
  const direction = leastMs > 0 ? 'ahead of' : 'behind'
  return finding(
    'clock',
    'problem',
    `This machine’s clock is at least ${span(surelyMs)} ${direction} DynamoDB’s: what is said here of leases is wrong by as much. Set it before you write anything.`,
  )
}

/** Asks DynamoDB something harmless, and looks at the time its answer was made. */
export async function measureOffset({ client, tableName: TableName }: Connection): Promise<Offset | undefined> {
  const command = new DescribeTableCommand({ TableName })
  let offset: Offset | undefined
  command.middlewareStack.add(
    (next) => async (args) => {
      const sentAtMs = Date.now()
      const result = await next(args)
      const headers: unknown = Reflect.get(Object(result.response), 'headers')
      const date: unknown = Reflect.get(Object(headers), 'date')
      offset = offsetOf(typeof date === 'string' ? date : undefined, sentAtMs, Date.now())
      return result
    },
    // Innermost: one try, without the waiting between tries.
    { step: 'deserialize', priority: 'low', name: 'lambdaOnceClock' },
  )
  await client.send(command)
  return offset
}
