import type { CommitPlan, Operation, StepOptions, Suspension } from '../../lib/index.ts'
import type { Chance } from './chance.ts'
import type { RecipeName } from './plan.ts'
import type { Caller, Provider } from './provider.ts'
import type { Subject } from './subject.ts'

/** What one execution of a work may use. */
export interface Bench {
  readonly operation: Operation
  readonly caller: Caller
  readonly provider: Provider
  readonly chance: Chance
  readonly subject: Subject
  /** Whether things may still go wrong. */
  readonly isStormy: boolean
  readonly relay: boolean
  /** Runs the work of a step, under the judge's eyes. */
  within<T>(step: string, work: () => Promise<T>): Promise<T>
  /** The operation's value: it says whose it is. */
  answer(text: string): Answer
  /** Work that takes time: a scheduling point. */
  work(): Promise<void>
}

/** What an operation is asked for with. */
export interface Order {
  readonly key: string
  readonly scope: string
  /** Tells requests under one key apart. */
  readonly tag: string
}

/** An answer says whose it is. */
export interface Answer extends Order {
  readonly text: string
}

export const LEDGER = 'ledger'
export const DOWNSTREAM_URL = 'https://sqs.eu-central-1.amazonaws.com/111122223333/downstream'
/** How long the provider of the recipe `horizon` remembers a key, in seconds. */
export const KEY_VALID_SECONDS = 30

/** One kind of handler, as a user writes it. What it answers is the operation's value, or a suspension. */
type Recipe = (bench: Bench) => Promise<string | Answer | Suspension>

const charge = (
  { operation, provider, caller, within, work }: Bench,
  step: string,
  options: StepOptions<string> = {},
) =>
  operation.step(
    step,
    ({ idempotencyKey }) =>
      within(step, async () => {
        await work()
        return provider.charge(caller, step, idempotencyKey)
      }),
    options,
  )

const mail = (
  { operation, provider, caller, within, work, chance, isStormy, subject }: Bench,
  step: string,
  hasProbe: boolean,
) =>
  operation.step(
    step,
    () =>
      within(step, async () => {
        await work()
        if (isStormy && chance.happens(0.05)) throw new subject.NoEffectError('declined before anything was sent')
        return provider.mail(caller, step)
      }),
    {
      onUnknown: 'stop',
      ...(hasProbe && {
        probe: async () => {
          const found = await provider.look(caller, step)
          if (found === 'sent') return { kind: 'done', value: 'found by a probe' }
          return { kind: found === 'not-sent' ? 'not-done' : 'unknown' }
        },
      }),
    },
  )

async function commit({ operation, chance, relay, answer }: Bench, plan: CommitPlan = {}): Promise<Answer> {
  const value = answer(`committed by ${operation.fence}`)
  return operation.commit(value, {
    writes: [{ Put: { TableName: LEDGER, Item: { id: operation.key } } }],
    receipt: value.text,
    ...(relay && { messages: [{ to: { queueUrl: DOWNSTREAM_URL }, body: operation.key }] }),
    ...plan,
    ...(chance.happens(0.2) && { messages: [] }),
  })
}

export const RECIPES: Readonly<Record<RecipeName, Recipe>> = {
  async plain({ work, operation }) {
    await work()
    await work()
    return `answer of ${operation.fence}`
  },

  async keyed(bench) {
    const first = await charge(bench, 'charge', { receipt: (answer) => answer })
    await bench.work()
    const second = await charge(bench, 'second')
    return `${first}, ${second}`
  },

  stop: async (bench) => `mailed: ${await mail(bench, 'mail', false)}`,

  probe: async (bench) => `mailed: ${await mail(bench, 'mail', true)}`,

  horizon: (bench) => charge(bench, 'charge', { keyValidSeconds: KEY_VALID_SECONDS }),

  async commit(bench) {
    if (bench.chance.happens(0.5)) await charge(bench, 'charge')
    await bench.work()
    const committed = await commit(bench)
    // What comes after the commit changes nothing any more, an error neither.
    await bench.work()
    if (bench.isStormy && bench.chance.happens(0.2)) throw new Error('after the commit')
    return committed
  },

  async conflict(bench) {
    const { subject, operation } = bench
    try {
      return await commit(bench, {
        writes: [{ ConditionCheck: { TableName: LEDGER, Key: { id: 'refused' }, ConditionExpression: 'refused' } }],
      })
    } catch (error) {
      if (!subject.isLambdaOnceError(error, 'COMMIT_CONFLICT')) throw error
      await bench.work()
      await operation.step('noted', () => bench.within('noted', async () => 'noted'))
      return commit(bench)
    }
  },

  async delay(bench) {
    const { operation, chance } = bench
    const { clock } = bench.caller.process
    const dueMs = await operation.step('due', () =>
      bench.within('due', async () => clock.now() + chance.between(1, 60) * 1000),
    )
    if (clock.now() < dueMs) return operation.delay({ until: new Date(dueMs) }, 'a while')
    return `charged after a delay: ${await charge(bench, 'charge')}`
  },

  async wait(bench) {
    await charge(bench, 'asked')
    const [signal] = await bench.operation.signals()
    if (signal === undefined) return bench.operation.wait('an approval')
    return `${String(signal)}: ${await charge(bench, 'charge')}`
  },

  async errors(bench) {
    const { subject, chance, operation, isStormy, work } = bench
    await work()
    const roll = isStormy ? chance.next() : 1
    if (roll < 0.15) throw new subject.NoEffectError('nothing done')
    if (roll < 0.25) throw new subject.RetryLater('not now')
    if (roll < 0.3) throw new Error('thrown before the step')
    if (roll < 0.35) operation.release()
    const done = roll >= 0.3 && roll < 0.35 ? 'nothing' : await charge(bench, 'charge')
    if (roll < 0.45) throw new Error('thrown after the step')
    if (roll < 0.5) throw new subject.NoEffectError('a lie, after a step')
    if (roll < 0.53) throw new subject.PermanentError('never')
    return `charged: ${done}`
  },

  async parallel(bench) {
    const [one, other] = await Promise.all([charge(bench, 'one'), charge(bench, 'other')])
    return `${one}, ${other}`
  },

  async extend(bench) {
    const { operation, work } = bench
    await work()
    await operation.extend()
    const done = await charge(bench, 'charge')
    await operation.extend(5)
    await work()
    return `charged: ${done}`
  },
}
