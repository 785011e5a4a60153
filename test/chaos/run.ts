// `npm run chaos`: real processes, DynamoDB Local, an SQS emulator, kill -9, SIGSTOP and a network that loses answers.
import { parseArgs } from 'node:util'
import { startDynamoDbLocal } from '../../infra/local/engines/dynamodb-local.ts'
import { type ChaosReport, runChaos } from './chaos.ts'

const { values } = parseArgs({
  options: { messages: { type: 'string', default: '3000' }, seed: { type: 'string', default: '1' } },
})
Object.assign(process.env, {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
})

const [messages, seed] = [Number(values.messages), Number(values.seed)]
if (!(Number.isSafeInteger(messages) && messages > 0 && Number.isSafeInteger(seed))) {
  throw new Error(`--messages and --seed must be whole numbers; got ${values.messages} and ${values.seed}.`)
}

const SHOW_EVERY = 10
let told = 0
const engine = await startDynamoDbLocal()
try {
  const report = await runChaos({
    messages,
    seed,
    dynamoDbEndpoint: engine.endpoint,
    onProgress: (line) => {
      if (told++ % SHOW_EVERY === 0) console.log(line)
    },
  })
  process.exitCode = tell(report)
} finally {
  await engine.stop()
}

function tell({
  messages,
  deliveries,
  runs,
  kills,
  freezes,
  faults,
  completed,
  unknown,
  ...wrong
}: ChaosReport): number {
  const broken = Object.entries(wrong).filter(([, ids]) => ids.length > 0)
  for (const [what, ids] of broken) console.log(`${what}: ${ids.slice(0, 10).join(', ')}`)
  const bad = broken.reduce((sum, [, ids]) => sum + ids.length, 0)
  console.log(
    `${messages} messages, ${deliveries} deliveries, ${runs} runs, ${kills} kills, ${freezes} freezes, ${faults} network faults: ${completed} completed, ${unknown} unknown, ${bad} lost or wrong`,
  )
  return bad === 0 ? 0 : 1
}
