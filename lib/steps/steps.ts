import { type ErrorCode, InvalidOptionError, isLambdaOnceError, LeaseLostError } from '../base/errors.ts'
import type { HeldRecord, Lease } from '../lease/lease.ts'
import type { Operation } from '../operation/operation.ts'
import type { Settings } from '../operation/options.ts'
import type { Report } from '../operation/report.ts'
import type { StepContext, StepOptions } from '../operation/step-options.ts'
import { lazily } from '../outcome/lazily.ts'
import type { KnownSteps } from './step-run.ts'

/** Many operations have no steps. */
const running = /* @__PURE__ */ lazily(() => import('./step-run.ts'))

/** The steps of one attempt. */
export interface Steps {
  readonly step: Operation['step']
  /** The names of the steps that are running now. */
  readonly open: readonly string[]
  /** The step whose outcome was found to be unknown, in this attempt. */
  readonly unknownStep: string | undefined
  /** Whether the unknown step has a probe: a reconciler may ask again. */
  readonly canProbe: boolean
  /** Whether there is a step that may have left something behind: recorded, or tried in this attempt. */
  readonly haveBegun: boolean
  /** Whether a step had its effect in this attempt, and its result could not be recorded. */
  readonly isUnrecorded: boolean
  /** Whether the error came out of a step whose result is not recorded: running again is safe by the step's own means. */
  isFromStep(error: unknown): boolean
  /**
   * Runs the commit as a step that is open: whatever ends the operation waits for it. No step begins meanwhile, and none
   * afterwards unless it failed and the lease is still held.
   */
  whileCommitting<T>(commit: () => Promise<T>): Promise<T>
  /** Lets no step begin any more, and waits for those that run: `false` when the deadline came first. */
  close(): Promise<boolean>
}

/** Errors of a step that say what became of it, or of its operation: running it again is not what they ask for. */
const FINAL_CODES: readonly ErrorCode[] = [
  'UNKNOWN_OUTCOME',
  'OUTCOME_UNSTORABLE',
  'OUTCOME_NOT_RECORDED',
  'OUTCOME_LOST',
  'INVALID_OPTION',
]

export function createSteps(settings: Settings, report: Report, lease: Lease, held: HeldRecord): Steps {
  const { clock } = settings
  const known: KnownSteps = {
    recorded: Object.assign(Object.create(null), held.steps),
    tried: new Set(),
    unknownStep: undefined,
    canProbe: false,
    isUnrecorded: false,
  }
  const used = new Set<string>()
  const open = new Map<string, Promise<unknown>>()
  const fromStep = new WeakSet<object>()
  let primitiveFromStep = false
  let closed = false
  let heldBack = false

  async function run<T>(
    name: string,
    work: (step: StepContext) => T | PromiseLike<T>,
    options: StepOptions<T>,
  ): Promise<T> {
    const { runStep } = await running()
    return runStep({ settings, report, lease, held, known }, name, work, options)
  }

  /** Remembers what came out of a step, its own machinery included: nothing was recorded, and a repetition is safe. */
  async function guarded<T>(running: Promise<T>): Promise<T> {
    try {
      return await running
    } catch (error) {
      if (typeof error !== 'object' || error === null) primitiveFromStep = true
      else if (!FINAL_CODES.some((code) => isLambdaOnceError(error, code))) fromStep.add(error)
      throw error
    }
  }

  function step<T>(
    name: string,
    work: (step: StepContext) => T | PromiseLike<T>,
    options: StepOptions<T> = {},
  ): Promise<T> {
    if (closed || heldBack)
      throw new LeaseLostError(`step("${name}"): the operation has ended; no step can begin any more.`)
    if (used.has(name)) {
      throw new InvalidOptionError(`step("${name}"): the name was used before in this attempt. Give each step its own.`)
    }
    used.add(name)
    const result = guarded(run(name, work, options))
    open.set(name, result)
    const settled = () => open.delete(name)
    result.then(settled, settled)
    return result
  }

  return Object.freeze({
    step: async <T>(name: string, work: (step: StepContext) => T | PromiseLike<T>, options?: StepOptions<T>) =>
      step(name, work, options),
    get open() {
      return [...open.keys()]
    },
    get unknownStep() {
      return known.unknownStep
    },
    get canProbe() {
      return known.canProbe
    },
    get haveBegun() {
      return known.tried.size > 0 || Object.keys(known.recorded).length > 0
    },
    get isUnrecorded() {
      return known.isUnrecorded
    },
    isFromStep: (error: unknown) =>
      typeof error === 'object' && error !== null ? fromStep.has(error) : primitiveFromStep,
    async whileCommitting<T>(commit: () => Promise<T>): Promise<T> {
      heldBack = true
      const running = commit()
      open.set('commit', running)
      try {
        return await running
      } catch (error) {
        heldBack = isLambdaOnceError(error, 'LEASE_LOST')
        throw error
      } finally {
        open.delete('commit')
      }
    },
    async close() {
      closed = true
      if (open.size === 0) return true
      const settled = new AbortController()
      const all = Promise.allSettled(open.values()).then(() => settled.abort())
      await Promise.race([all, clock.wait(Math.max(0, lease.giveUpAtMs() - clock.now()), settled.signal)])
      return settled.signal.aborted
    },
  })
}
