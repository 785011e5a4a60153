// Runs in a process of its own: `node loading.ts VALUE FAILING` writes what was loaded, and what came of two deliveries.
import { randomBytes } from 'node:crypto'
import { registerHooks } from 'node:module'
import { inspect } from 'node:util'

const [, , kind = '', failing = '{}'] = process.argv
const left: Record<string, number> = JSON.parse(failing)
const loaded: string[] = []

registerHooks({
  load(url, context, next) {
    const name = url.slice(url.lastIndexOf('/') + 1)
    if ((left[name] ?? 0) > 0) {
      left[name] = (left[name] ?? 0) - 1
      throw new Error(`EMFILE: too many open files, open ${name}`)
    }
    loaded.push(url.includes('/node_modules/') ? url.slice(url.lastIndexOf('/node_modules/')) : name)
    return next(url, context)
  },
})

const { createIdempotency, isLambdaOnceError } = await import('../../lib/index.ts')
const { memoryStore } = await import('../../lib/memory/index.ts')
const { fakeClock } = await import('../core/fake-clock.ts')

const VALUES: Readonly<Record<string, unknown>> = {
  json: { amount: 100 },
  map: new Map([[1, 2]]),
  large: randomBytes(10_000).toString('base64'),
}

const store = memoryStore()
const idempotency = createIdempotency({ store, clock: fakeClock(), namespace: 'loading' })
let runs = 0

async function deliver(): Promise<string> {
  try {
    const { value } = await idempotency.run({ key: 'k', input: 1 }, () => {
      if (++runs > 1) throw new Error('ran again')
      return VALUES[kind]
    })
    return kind === 'json' ? JSON.stringify(value) : inspect(value)
  } catch (error) {
    return isLambdaOnceError(error) ? error.code : String(error)
  }
}

const first = await deliver()
const statusAfterFirst = store.records()[0]?.status
const again = await deliver()
console.log(JSON.stringify({ loaded, first, statusAfterFirst, again }))
