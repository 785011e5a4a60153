import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createTable } from '../tables.ts'
import type { Call } from './process.ts'
import type { SideName } from './side.ts'
import type { Tasks } from './tasks.ts'

type Input<K extends keyof Tasks> = Parameters<Tasks[K]>[1]
type Answer<K extends keyof Tasks> = Awaited<ReturnType<Tasks[K]>>

/** A fresh process of one side, with a table of its own. */
export interface SideProcess {
  readonly tableName: string
  do<K extends keyof Tasks>(task: K, input: Input<K>): Promise<Answer<K>>
  /** The same, counting requests and units; its times mean nothing. */
  metered<K extends keyof Tasks>(task: K, input: Input<K>): Promise<Answer<K>>
  stop(): Promise<void>
}

/** What a side is started with. */
export interface StartOptions {
  /** Where its tables are made, and by default where its requests go. */
  readonly endpoint: string
  /** Where its requests go instead. */
  readonly through?: string
  /** How many records of a batch run at the same time. */
  readonly concurrency?: number
}

/** As many as there may be in a batch: Powertools runs all at the same time. */
const ALL_AT_ONCE = 10_000

export async function startSide(
  name: SideName,
  { endpoint, through = endpoint, concurrency = ALL_AT_ONCE }: StartOptions,
): Promise<SideProcess> {
  const client = new DynamoDBClient({ endpoint })
  const tableName = await createTable(client, name === 'lambda-once' ? ['pk', 'sk'] : ['id'])
  client.destroy()
  const path = fileURLToPath(new URL('process.ts', import.meta.url))
  const child = fork(path, [name, through, tableName, String(concurrency)], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let complaint = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString('utf8')).slice(-2000)
  })
  let waiting: PromiseWithResolvers<unknown> | undefined
  child.on('message', ({ answer, error }: { answer?: unknown; error?: string }) => {
    if (error === undefined) waiting?.resolve(answer)
    else waiting?.reject(new Error(`${name}: ${error}`))
  })
  child.once('exit', (code) => waiting?.reject(new Error(`the process of ${name} ended with ${code}: ${complaint}`)))
  const answered = () => {
    waiting = Promise.withResolvers<unknown>()
    return waiting.promise
  }
  await answered()
  const call = async (message: Call) => {
    child.send(message)
    return (await answered()) as never
  }
  return {
    tableName,
    do: (task, input) => call({ task, input, isMetered: false }),
    metered: (task, input) => call({ task, input, isMetered: true }),
    async stop() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}
