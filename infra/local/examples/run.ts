// `npm run example`: plays the examples of functions/examples on DynamoDB Local, or in memory where there is no Java.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { Argument, Command } from 'commander'
import pc from 'picocolors'
import { dynamoStore } from '../../../lib/dynamodb/index.ts'
import { memoryStore } from '../../../lib/memory/index.ts'
import { fakeClock } from '../../../lib/testing/index.ts'
import { startDynamoDbLocal } from '../engines/dynamodb-local.ts'
import { findOrInstallJava } from '../engines/java.ts'
import { createOperationsTable } from '../engines/operations-table.ts'
import { PLAYS, type PlayName } from './plays.ts'
import type { Stage } from './stage.ts'

const names = Object.keys(PLAYS) as PlayName[]
const command = new Command('npm run example --')
  .description('Plays an example on this machine: its deliveries, its duplicates, its crashes, and what came of them.')
  .addArgument(new Argument('[name]', 'the example; all of them by default').choices(names))
  .parse()
const [chosen] = command.processedArgs as [PlayName | undefined]

const java = findOrInstallJava()
if (!java.found) console.log(`${java.reason} The examples run on the in-memory store.`)
const engine = java.found ? await startDynamoDbLocal({ javaPath: java.path }) : undefined
try {
  let broken = 0
  for (const name of chosen === undefined ? names : [chosen]) broken += await play(name)
  console.log(broken === 0 ? pc.green('\neverything as promised') : pc.red(`\n${broken} not as promised`))
  process.exitCode = broken === 0 ? 0 : 1
} finally {
  await engine?.stop()
}

async function play(name: PlayName): Promise<number> {
  console.log(`\n${pc.bold(name)} ${pc.dim(`functions/examples/${name}.ts`)}`)
  let broken = 0
  const stage: Stage = {
    store: await storeFor(name),
    clock: fakeClock(),
    scene: (text) => console.log(`\n  ${text}`),
    saw(text, isAsPromised) {
      if (!isAsPromised) broken += 1
      console.log(`  ${isAsPromised ? pc.green('✓') : pc.red('✗')} ${text}`)
    },
  }
  await PLAYS[name](stage)
  return broken
}

async function storeFor(name: PlayName) {
  if (engine === undefined) return memoryStore()
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const client = new DynamoDBClient({ endpoint: engine.endpoint, region: 'eu-central-1', credentials })
  await createOperationsTable(client, name)
  return dynamoStore({ tableName: name, client })
}
