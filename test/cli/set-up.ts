import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { build } from 'esbuild'
import { afterAll } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import type { Redrive } from '../../lib/engine/redrive.ts'
import { engineOf } from '../../lib/idempotency/idempotency.ts'
import {
  createIdempotency,
  type Idempotency,
  type IdempotencyOptions,
  PermanentError,
  RetryLater,
} from '../../lib/index.ts'
import { createSender, dispatchOne, OUTBOX_PREFIX } from '../../lib/outbox/index.ts'
import { operationId } from '../../lib/record/identity.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The CLI in one file, SDK included: hundreds of its processes start here, and each would load all of its modules. */
export const MAIN: string = join(ROOT, '.local', `cli-${process.pid}-${randomBytes(4).toString('hex')}`, 'main.mjs')
await build({
  absWorkingDir: ROOT,
  entryPoints: ['lib/cli/main.ts'],
  outfile: MAIN,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  logLevel: 'error',
  banner: { js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)" },
})
afterAll(() => rmSync(dirname(MAIN), { recursive: true, force: true }))

/** The URL of an emulator's queue as this machine's resolver knows it: its own has a host name under localhost. */
export function onLoopback(queueUrl: string | undefined): string {
  const url = new URL(queueUrl ?? '')
  url.hostname = '127.0.0.1'
  return url.href
}

/** What a run of the real CLI came to. */
export interface CliRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the CLI as a process, as somebody would from a script: no terminal, no colours unless the environment says so. */
export function runCli(
  args: readonly string[],
  { env = {}, input = '', main = MAIN }: { env?: NodeJS.ProcessEnv; input?: string; main?: string } = {},
): Promise<CliRun> {
  const child = spawn(process.execPath, [main, ...args], { env: { ...process.env, ...env } })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}

/** The CLI against one table of the local engine. */
export function cliFor(endpoint: string, table: string, env: NodeJS.ProcessEnv = {}) {
  const common = ['--endpoint', endpoint, '--table', table]
  return {
    run: (command: string, ...args: string[]) => runCli([command, ...args, ...common], { env }),
    /** With `--json`: what the answer says, for tests that look into it. */
    async json(command: string, ...args: string[]) {
      const { code, stdout, stderr } = await runCli([command, ...args, '--json', ...common], { env })
      // biome-ignore lint/suspicious/noExplicitAny: an assertion on the answer says what it expects of it
      return { code, stderr, answer: (stdout === '' ? undefined : JSON.parse(stdout)) as any }
    },
  }
}

export const NAMESPACE = 'orders'
export const SCOPE = 'tenant-1'
export const idFor = (key: string): string => operationId(NAMESPACE, [SCOPE], key)

/** Operations in every state, made by the real engine on a real table. */
export function operationsIn(client: DynamoDBClient, tableName: string) {
  const store = dynamoStore({ tableName, client })
  const make = (options: Partial<IdempotencyOptions> = {}): Idempotency =>
    createIdempotency({
      store,
      namespace: NAMESPACE,
      leaseSeconds: 600,
      relay: true,
      reconcilerShards: 4,
      reconcilerRecovers: true,
      ...options,
    })
  /** A clock of an hour ago: what is claimed by it has a lease that is over. */
  const anHourAgo = { now: () => Date.now() - 3_600_000, wait: async () => undefined }
  const name = (key: string) => ({ key, scope: SCOPE, fingerprint: false as const })

  async function claim(key: string, options: Partial<IdempotencyOptions>, redrive?: Redrive): Promise<string> {
    const engine = engineOf(make(options))
    const fingerprint = false as const
    const claimed = await engine.claim(engine.request({ key, scope: SCOPE, fingerprint, contract: 'answer', redrive }))
    if (claimed.kind !== 'claimed') throw new Error(`claim: ${claimed.kind}`)
    return idFor(key)
  }

  return {
    store,
    make,
    running: (key: string) => claim(key, {}),
    stale: (key: string, redrive?: Redrive) => claim(key, { clock: anHourAgo }, redrive),
    stopped: (key: string) => claim(key, { clock: anHourAgo, takeover: 'never' }),
    async completed(key: string, value: unknown = { secret: 'a stored answer' }): Promise<string> {
      await make().run(name(key), () => value)
      return idFor(key)
    },
    /** An outcome that lies in parts: random bytes do not compress. */
    async huge(key: string): Promise<string> {
      await make().run(name(key), () => randomBytes(2_000_000).toString('base64'))
      return idFor(key)
    },
    async failed(key: string): Promise<string> {
      await make()
        .run(name(key), () => {
          throw new PermanentError('the card 4242 was declined')
        })
        .catch(() => undefined)
      return idFor(key)
    },
    /** Given up after its first step. */
    async retryable(key: string): Promise<string> {
      await make()
        .run(name(key), async (operation) => {
          await operation.step('charge', async () => 'charge-1')
          throw new RetryLater()
        })
        .catch(() => undefined)
      return idFor(key)
    },
    /** A step was begun, and its outcome is not known. */
    async unknown(key: string): Promise<string> {
      for (const _attempt of [1, 2]) {
        await make()
          .run(name(key), (operation) =>
            operation.step(
              'charge',
              async () => {
                throw new Error('timed out')
              },
              { onUnknown: 'stop' },
            ),
          )
          .catch(() => undefined)
      }
      return idFor(key)
    },
    async waiting(key: string): Promise<string> {
      await make()
        .run(name(key), (operation) => operation.delay({ seconds: 7_200 }, 'the bank'))
        .catch(() => undefined)
      return idFor(key)
    },
    async admission(key: string): Promise<string> {
      await make().acquire({ key, scope: SCOPE }, { ttlSeconds: 3_600, metadata: { operation: 'issue-invoice' } })
      return idFor(key)
    },
    /** Committed with a receipt and a message; the message is still pending. */
    async committed(key: string, queueUrl: string): Promise<string> {
      await make().run(name(key), (operation) =>
        operation.commit('paid', {
          messages: [{ to: { queueUrl }, body: { secret: 'a message' } }],
          receipt: { secret: 'a receipt' },
        }),
      )
      return idFor(key)
    },
    /** The same, with the message refused by its target. */
    async stuck(key: string, queueUrl: string): Promise<string> {
      const id = await this.committed(key, queueUrl)
      const sender = { send: async () => [{ kind: 'refused' as const, reason: 'QueueDoesNotExist' }] }
      for (const item of await store.listBeside(id, OUTBOX_PREFIX)) await dispatchOne(store, sender, { ...item, id })
      return id
    },
    sender: createSender,
  }
}
