import { InvalidOptionError } from '../base/errors.ts'
import { watchLease } from '../lease/lease-watch.ts'
import type { Settings } from '../operation/options.ts'
import { lazily } from '../outcome/lazily.ts'
import { hashOfParts } from '../record/identity.ts'
import type { Execution } from './execution.ts'
import { operationView } from './operation-view.ts'
import type { OperationRequest } from './request.ts'

const stepping = /* @__PURE__ */ lazily(() =>
  Promise.all([import('../operation/step-options.ts'), import('../steps/step-attempt.ts')]),
)

/** An execution without a claim, for users who chose `onStoreError: 'open'`: it runs, and nothing is written. */
export function unprotectedExecution(settings: Settings, request: OperationRequest): Execution {
  const createdAtMs = settings.clock.now()
  const lease = watchLease(
    settings.clock,
    request.deadlineMs ?? createdAtMs + (settings.leaseMs ?? settings.leaseWithoutDeadlineMs),
  )
  const end = async () => {
    lease.stop()
    return { kind: 'unprotected' } as const
  }
  return Object.freeze({
    operation: operationView({
      record: { id: request.id, attempt: 1, createdAtMs },
      key: request.key,
      lease,
      step: async (name, work, options = {}) => {
        const [{ checkStep }, { attemptStep }] = await stepping()
        checkStep(name, work, options)
        const idempotencyKey = hashOfParts([request.id, request.fingerprint, name])
        return attemptStep(settings, { idempotencyKey, attempt: 1, signal: lease.signal }, work, options)
      },
      extend: async () => undefined,
      release: () => undefined,
      commit: async () => {
        throw refused('commit')
      },
      delay: () => {
        throw refused('delay')
      },
      wait: () => {
        throw refused('wait')
      },
      signals: async () => [],
    }),
    attempt: 1,
    keepRequest: async () => undefined,
    entered: () => undefined,
    within: async <T>(work: () => T | PromiseLike<T>): Promise<T> => work(),
    complete: end,
    reject: end,
    giveUp: end,
    committed: undefined,
  })
}

function refused(method: string): InvalidOptionError {
  return new InvalidOptionError(
    `operation.${method} needs a claim, and this request runs without one: it has no key, is of a method that is not protected, or the store is down and onStoreError is "open".`,
  )
}
