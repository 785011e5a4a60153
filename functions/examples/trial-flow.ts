import * as v from 'valibot'
import { type BatchHandler, batchHandler } from '../../lib/batch/index.ts'
import type { Clock, Idempotency } from '../../lib/index.ts'

const TrialSchema = v.object({ customerId: v.pipe(v.string(), v.nonEmpty()) })
const TextSchema = v.pipe(v.string(), v.parseJson(), TrialSchema)

/** A customer's trial. */
export type Trial = v.InferOutput<typeof TrialSchema>

/** What {@link trialFlow} works with. */
export interface TrialFlowOptions {
  /** With a reconciler, since delays of days are left to it: `reconcilerShards`. */
  readonly idempotency: Idempotency
  /** The queue whose messages begin trials, and continue them. */
  readonly queueUrl: string
  /** Sends a mail; its service does nothing twice under one key. */
  readonly mail: (template: 'welcome' | 'reminder' | 'goodbye', trial: Trial, idempotencyKey: string) => Promise<void>
  /** Opens the account; does nothing twice under one key. */
  readonly activate: (trial: Trial, idempotencyKey: string) => Promise<void>
  readonly clock: Clock
}

const DAY_MS = 86_400_000
const REMIND_AFTER_DAYS = 3
const END_AFTER_DAYS = 7
/** Whom a signal names together with the customer. */
export const TRIAL_SCOPE = 'trials'

/**
 * A trial of a week: a welcome, a reminder after three days, an end after seven, or an account as soon as the customer
 * confirms (`idempotency.signal({ key: customerId, scope: TRIAL_SCOPE }, …)`). Read from the top after every wait:
 * what is a step is not done again.
 */
export function trialFlow({ idempotency, queueUrl, mail, activate, clock }: TrialFlowOptions): BatchHandler {
  return batchHandler(
    {
      idempotency,
      parse: (text: string) => v.parse(TextSchema, text),
      key: ({ body }: { readonly body: Trial }) => body.customerId,
      scope: () => TRIAL_SCOPE,
      redrive: { queueUrl },
    },
    async ({ body: trial }, operation) => {
      const beganAtMs = await operation.step('begin', () => clock.now())
      await operation.step('welcome', ({ idempotencyKey }) => mail('welcome', trial, idempotencyKey))

      const [confirmation] = await operation.signals()
      if (confirmation !== undefined) {
        await operation.step('activate', ({ idempotencyKey }) => activate(trial, idempotencyKey))
        return 'customer'
      }

      const remindAtMs = beganAtMs + REMIND_AFTER_DAYS * DAY_MS
      if (clock.now() < remindAtMs) return operation.delay({ until: new Date(remindAtMs) }, 'a confirmation')
      await operation.step('reminder', ({ idempotencyKey }) => mail('reminder', trial, idempotencyKey))

      const endAtMs = beganAtMs + END_AFTER_DAYS * DAY_MS
      if (clock.now() < endAtMs) return operation.delay({ until: new Date(endAtMs) }, 'a confirmation')
      await operation.step('goodbye', ({ idempotencyKey }) => mail('goodbye', trial, idempotencyKey))
      return 'ended'
    },
  )
}
