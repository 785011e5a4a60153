import type { Operation } from '../operation/operation.ts'
import type { Settings } from '../operation/options.ts'
import { createReport, type Report } from '../operation/report.ts'
import { ANSWER_RESERVE_MS, storeUntil } from '../outcome/persist.ts'
import { contentForm } from '../record/content.ts'
import type { OperationRecord } from '../record/record.ts'
import type { Claim } from './claim.ts'
import type { Ending } from './ending.ts'
import type { Execution } from './execution.ts'
import { claimPatiently } from './patience.ts'
import type { Refusal } from './refusal.ts'
import type { OperationRequest } from './request.ts'
import { operationRequest, type RequestParts } from './request.ts'
import { beginTrace, traced } from './traced.ts'
import { unprotectedExecution } from './unprotected.ts'

/** The protocol over one set of options. The HTTP and batch shells are built on it. */
export interface Engine {
  readonly settings: Settings
  readonly report: Report
  /**
   * Makes the request that is claimed: normalizes key and scope, and makes the operation's id and its fingerprint.
   * @throws MissingKeyError, InvalidKeyError, InvalidInputError; InvalidOptionError when the scope is none
   */
  request(parts: RequestParts): OperationRequest
  /** Makes of what a client has sent a value to fingerprint. */
  readonly contentForm: typeof contentForm
  claim(request: OperationRequest): Promise<Claim>
  /** Claims, runs the work, and writes how it ended. Never throws what the work threw: that is part of the answer. */
  execute<T>(request: OperationRequest, work: (operation: Operation) => T | PromiseLike<T>): Promise<Answer<T>>
  /**
   * Takes over what a record says is left to do, and runs the work as {@link Engine.execute} does. Never begins an
   * operation, and asks again about an unknown step that has a probe.
   */
  recover<T>(
    record: OperationRecord,
    work: (operation: Operation) => T | PromiseLike<T>,
    remainingMs: number | undefined,
  ): Promise<Answer<T>>
  /**
   * The same engine for one invocation that works on many operations: writes of several that are due at the same time
   * share requests, where the store can do that. What it collects is this invocation's alone.
   */
  grouped(remainingMs: number | undefined): Engine
  /** An execution without a claim: it runs, and nothing is written. For requests that need no protection. */
  unprotected(request: OperationRequest): Execution
}

/** How an execution ended, when its own answer stands. */
export type OwnEnding = Exclude<Ending, { kind: 'outdone' | 'lost' | 'suspended' }>

/** What came of an operation. */
export type Answer<T> =
  | { readonly kind: 'executed'; readonly value: T; readonly attempt: number; readonly ending: OwnEnding }
  | { readonly kind: 'threw'; readonly error: unknown; readonly attempt: number; readonly ending: OwnEnding }
  /** The lease was lost while the work ran; what it came to was not written. `error` is what it threw, if it did. */
  | { readonly kind: 'lease-lost'; readonly error?: unknown }
  /** The work has suspended the operation, and somebody will continue it. */
  | { readonly kind: 'suspended'; readonly retryAfterMs?: number }
  | Refusal

export function createEngine(settings: Settings): Engine {
  const report = createReport(settings)

  async function claimOrRunOpen(request: OperationRequest, report: Report): Promise<Claim> {
    const { deadlineMs } = request
    const store = deadlineMs === undefined ? settings.store : storeUntil(settings.store, settings.clock, deadlineMs)
    const answer = await claimPatiently({ ...settings, store }, report, request)
    if (answer.kind !== 'store-unavailable' || answer.hasBegun || settings.onStoreError === 'closed') return answer
    report({ type: 'unprotected', error: answer.error }, request.id)
    return { kind: 'claimed', execution: unprotectedExecution(settings, request) }
  }

  function claimTraced(request: OperationRequest): Promise<Claim> {
    const trace = beginTrace(settings, request.id)
    return trace === undefined ? claimOrRunOpen(request, report) : traced(trace, request, report, claimOrRunOpen)
  }

  const engine: Engine = Object.freeze({
    settings,
    report,
    request: (parts: RequestParts) => operationRequest(settings, parts),
    contentForm,
    claim: claimTraced,
    grouped(remainingMs = Number.POSITIVE_INFINITY) {
      const { store, clock, random } = settings
      if (store.grouped === undefined) return engine
      const giveUpAtMs = clock.now() + remainingMs - ANSWER_RESERVE_MS
      return createEngine({ ...settings, store: store.grouped({ clock, random, giveUpAtMs }) })
    },
    unprotected: (request: OperationRequest) => unprotectedExecution(settings, request),
    execute,
    recover<T>(
      { id, fingerprint }: OperationRecord,
      work: (operation: Operation) => T | PromiseLike<T>,
      remainingMs: number | undefined,
    ): Promise<Answer<T>> {
      const deadlineMs = remainingMs === undefined ? undefined : settings.clock.now() + remainingMs
      // The record does not hold the key: it may be a secret of the caller's.
      const request = { id, key: '', fingerprint, contract: 'retry' as const, isReconciled: true }
      return execute({ ...request, ...(deadlineMs !== undefined && { deadlineMs }) }, work)
    },
  })
  return engine

  async function execute<T>(
    request: OperationRequest,
    work: (operation: Operation) => T | PromiseLike<T>,
  ): Promise<Answer<T>> {
    const claimed = await claimTraced(request)
    if (claimed.kind !== 'claimed') return claimed
    const { execution } = claimed
    const { attempt } = execution
    let value: T
    let ending: Ending
    execution.entered()
    try {
      value = await execution.within(() => work(execution.operation))
      ending = await execution.complete(value)
    } catch (error) {
      ending = await execution.reject(error)
      return answerTo(ending, { error }, (own) => ({ kind: 'threw', error, attempt, ending: own }))
    }
    // The work that has committed may return nothing.
    const { committed } = execution
    const answered = value === undefined && committed !== undefined ? (committed.value as T) : value
    return answerTo(ending, {}, (own) => ({ kind: 'executed', value: answered, attempt, ending: own }))
  }
}

/** This execution's own answer, or the one that takes its place. */
function answerTo<T>(
  ending: Ending,
  thrown: { readonly error?: unknown },
  own: (ending: OwnEnding) => Answer<T>,
): Answer<T> {
  switch (ending.kind) {
    case 'outdone':
      return { kind: 'replay', outcome: ending.outcome, attempt: ending.attempt }
    case 'lost':
      return { kind: 'lease-lost', ...thrown }
    case 'suspended':
      return ending
    case 'recorded':
      return ending.as === 'unknown' ? { kind: 'unknown' } : own(ending)
    case 'kept':
    case 'unprotected':
    case 'unrecorded':
      return own(ending)
  }
}
