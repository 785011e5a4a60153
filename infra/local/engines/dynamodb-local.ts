import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { requireJava } from './java.ts'
import { spawnTied, type TiedProcess } from './tied-process.ts'

// Start takes 2–3 s alone; a loaded two-core machine has been seen to need ten times that.
const START_TIMEOUT_MS = 60_000
const POLL_INTERVAL_MS = 100

// These halve the start-up time and the CPU of a short-lived JVM; the heap is what some ten thousand items need.
const SHORT_LIVED = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx256m']
const NATIVE_LIBRARIES = '-Djava.library.path=./DynamoDBLocal_lib'

/** AWS's own DynamoDB Local, running in memory. */
export interface DynamoDbLocal {
  /** What goes into the `endpoint` of a client, or AWS_ENDPOINT_URL_DYNAMODB. */
  readonly endpoint: string
  readonly pid: number
  /** Ends the engine and resolves when its process is gone; its data is gone too. */
  stop(): Promise<void>
}

/**
 * Starts DynamoDB Local and resolves when it answers. It dies with this process, however that ends.
 *
 * @param options.port - a fixed TCP port; a free one by default.
 * @param options.javaPath - the `java` to run; found (or, as root on Debian, installed) by default.
 * @param options.isLongLived - runs as fast as it can once it is warm, instead of being ready soon.
 * @throws Error with one sentence when Java is missing or the engine doesn't start.
 */
export async function startDynamoDbLocal(
  options: { port?: number; javaPath?: string; isLongLived?: boolean } = {},
): Promise<DynamoDbLocal> {
  const javaPath = options.javaPath ?? requireJava()
  const port = options.port ?? (await freePort())
  const directory = join(
    dirname(createRequire(import.meta.url).resolve('amplify-dynamodb-simulator/package.json')),
    'emulator',
  )
  const jvmFlags = options.isLongLived === true ? [] : SHORT_LIVED
  const engineFlags = ['-inMemory', '-sharedDb', '-disableTelemetry', '-port', String(port)]
  const child = spawnTied(javaPath, [...jvmFlags, NATIVE_LIBRARIES, '-jar', 'DynamoDBLocal.jar', ...engineFlags], {
    cwd: directory,
  })
  const endpoint = `http://127.0.0.1:${port}`
  await untilAnswering(child, endpoint)
  return Object.freeze({ endpoint, pid: child.pid, stop: child.kill })
}

async function untilAnswering(child: TiedProcess, endpoint: string): Promise<void> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-2000)
    })
  }
  let ended = false
  void child.exited.then(() => {
    ended = true
  })
  const deadline = Date.now() + START_TIMEOUT_MS
  while (Date.now() < deadline) {
    await sleep(POLL_INTERVAL_MS)
    // Checked after the wait as well as after the answer: on a port that is taken another engine would answer for ours.
    if (ended) throw new Error(`DynamoDB Local ended while starting: ${output.trim()}`)
    const answered = await fetch(endpoint, { signal: AbortSignal.timeout(5000) }).then(
      () => true,
      () => false,
    )
    if (answered && !ended) return
  }
  await child.kill()
  throw new Error(`DynamoDB Local did not answer on ${endpoint} within ${START_TIMEOUT_MS / 1000} s: ${output.trim()}`)
}
