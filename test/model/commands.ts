import fc from 'fast-check'
import { expect } from 'vitest'
import type { Claim } from '../../lib/engine/claim.ts'
import type { Ending } from '../../lib/engine/ending.ts'
import type { Execution } from '../../lib/engine/execution.ts'
import { engineOf } from '../../lib/idempotency/idempotency.ts'
import {
  type Idempotency,
  isLambdaOnceError,
  type OperationRecord,
  PermanentError,
  type Store,
} from '../../lib/index.ts'
import type { FakeClock } from '../core/fake-clock.ts'
import type { Mirror, ModelHold } from './mirror.ts'

/** The engine over a store, one operation of it, and the claims that are held. */
export interface Real {
  readonly idempotency: Idempotency
  readonly clock: FakeClock
  readonly store: Store
  readonly key: string
  readonly id: string
  /** What TTL would do. */
  remove(): Promise<void>
  readonly holds: { readonly model: ModelHold; readonly execution: Execution }[]
}

type Command = fc.AsyncCommand<Mirror, Real>

/** Runs something in both, and compares the record afterwards. */
function command(
  name: string,
  check: (mirror: Mirror) => boolean,
  run: (mirror: Mirror, real: Real) => Promise<void>,
): Command {
  return {
    check,
    toString: () => name,
    async run(mirror, real) {
      await run(mirror, real)
      compare(mirror, await real.store.get(real.id))
    },
  }
}

function compare({ record }: Mirror, stored: OperationRecord | undefined): void {
  const seconds = (ms: number) => (Number.isFinite(ms) ? ms / 1000 : undefined)
  expect(
    stored && {
      status: stored.status,
      attempt: stored.attempt,
      steps: Object.fromEntries(Object.entries(stored.steps).map(([step, { kind }]) => [step, kind])),
      signals: stored.signals?.length ?? 0,
      expiresAt: stored.expiresAt,
      leaseUntil: stored.status === 'IN_PROGRESS' ? stored.leaseUntil : undefined,
    },
  ).toEqual(
    record && {
      status: record.status,
      attempt: record.attempt,
      steps: record.steps,
      signals: record.signals,
      expiresAt: seconds(record.expiresAt),
      leaseUntil: record.status === 'IN_PROGRESS' ? record.leaseUntil : undefined,
    },
  )
}

const claimed = (fingerprint: string, isRedelivered: boolean): Command =>
  command(
    `claim ${fingerprint}${isRedelivered ? ' again' : ''}`,
    () => true,
    async (mirror, real) => {
      const engine = engineOf(real.idempotency)
      const request = engine.request({ key: real.key, fingerprint: { text: fingerprint }, contract: 'retry' })
      const answer: Claim = await engine.claim({ ...request, isRedelivered })
      const { decision, hold } = mirror.claim(fingerprint)
      expect(answer.kind).toBe(hold === undefined ? decision : 'claimed')
      if (answer.kind !== 'claimed' || hold === undefined) return
      expect(answer.execution.attempt).toBe(hold.attempt)
      answer.execution.entered()
      real.holds.push({ model: hold, execution: answer.execution })
    },
  )

/** Something that a holder does; the last one is the newest, others may have been outrun. */
function held(
  name: string,
  at: number,
  run: (mirror: Mirror, hold: Real['holds'][number], real: Real) => Promise<void>,
): Command {
  return command(
    `${name} by hold ${at}`,
    () => true,
    async (mirror, real) => {
      const hold = real.holds[real.holds.length - 1 - (at % Math.max(1, real.holds.length))]
      if (hold !== undefined) await run(mirror, hold, real)
    },
  )
}

const wordFor = (ending: Ending) => (ending.kind === 'recorded' ? ending.as : ending.kind)

function ended(
  as: 'complete' | 'fail' | 'resume' | 'release' | 'unknown' | 'delay' | 'wait',
  at: number,
  delayMs: number,
): Command {
  return held(as, at, async (mirror, hold, real) => {
    const { execution, model } = hold
    real.holds.splice(real.holds.indexOf(hold), 1)
    const ending = await endWith(execution, as, delayMs)
    expect(wordFor(ending)).toBe(mirror.end(model, as, delayMs))
  })
}

function endWith(execution: Execution, as: string, delayMs: number): Promise<Ending> {
  const { operation } = execution
  switch (as) {
    case 'complete':
      return execution.complete('value')
    case 'fail':
      return execution.reject(new PermanentError('for good'))
    case 'delay':
      return execution.complete(operation.delay({ seconds: delayMs / 1000 }))
    case 'wait':
      return execution.complete(operation.wait())
    case 'release':
      return execution.giveUp('release', 'resume')
    default:
      return execution.giveUp(as === 'unknown' ? 'unknown' : 'resume')
  }
}

function stepped(name: string, isStop: boolean, isLeftOpen: boolean, at: number): Command {
  return held(
    `step ${name}${isStop ? ' once' : ''}${isLeftOpen ? ' left open' : ''}`,
    at,
    async (mirror, { execution, model }) => {
      if (model.used.has(name)) return
      const work = () => {
        if (isLeftOpen) throw new Error('a time-out')
        return 'result'
      }
      const answer = await execution.operation.step(name, work, isStop ? { onUnknown: 'stop' } : {}).then(
        () => 'value',
        (error: unknown) => (isLambdaOnceError(error) ? error.code : 'thrown'),
      )
      expect(answer).toBe(mirror.step(model, name, isStop, isLeftOpen))
    },
  )
}

const extended = (at: number): Command =>
  held('extend', at, async (mirror, { execution, model }) => {
    const isExtended = await execution.operation.extend(30).then(
      () => true,
      () => false,
    )
    expect(isExtended).toBe(mirror.isHeld(model))
    if (isExtended) mirror.renew(model, mirror.nowMs + 30_000)
  })

const advanced = (seconds: number): Command =>
  command(
    `${seconds} s pass`,
    () => true,
    async (mirror, { clock }) => {
      clock.advance(seconds * 1000)
      mirror.nowMs += seconds * 1000
    },
  )

const expired: Command = command(
  'TTL deletes it',
  ({ record, nowMs }) => record !== undefined && record.expiresAt <= nowMs,
  async (mirror, real) => {
    await real.remove()
    mirror.record = undefined
  },
)

const signalled: Command = command(
  'signal',
  () => true,
  async (mirror, { idempotency, key }) => {
    expect(await idempotency.signal({ key }, 'news')).toBe(mirror.signal())
  },
)

const settled = (as: 'value' | 'rerun'): Command =>
  command(
    `settle ${as}`,
    () => true,
    async (mirror, { idempotency, key }) => {
      const settlement = as === 'value' ? { value: 'settled' } : { rerun: true as const }
      expect(await idempotency.settle({ key }, settlement)).toBe(mirror.settle(as))
    },
  )

const at = fc.nat(2)

/** Any sequence of what deliveries, handlers, operators, signals and time may do to one operation. */
export const commands = (max: number): fc.Arbitrary<Iterable<Command>> =>
  fc.commands(
    [
      fc
        .tuple(fc.constantFrom('f1', 'f1', 'f1', 'f2'), fc.boolean())
        .map(([fingerprint, isRedelivered]) => claimed(fingerprint, isRedelivered)),
      fc
        .tuple(
          fc.constantFrom('complete', 'fail', 'resume', 'release', 'unknown', 'delay', 'wait'),
          at,
          fc.constantFrom(5_000, 40_000),
        )
        .map(([as, hold, delayMs]) => ended(as, hold, delayMs)),
      fc
        .tuple(fc.constantFrom('one', 'two'), fc.boolean(), fc.boolean(), at)
        .map(([name, isStop, isLeftOpen, hold]) => stepped(name, isStop, isLeftOpen, hold)),
      at.map(extended),
      fc.constantFrom(1, 10, 11, 31, 60, 121).map(advanced),
      fc.constant(expired),
      fc.constant(signalled),
      fc.constantFrom('value', 'rerun').map(settled),
    ],
    { maxCommands: max },
  )
