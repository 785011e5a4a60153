import type { Operation } from '../operation/operation.ts'
import type { Settings } from '../operation/options.ts'
import { quietly, type Report } from '../operation/report.ts'
import type { Trace, TracedPart, TraceEnd } from '../operation/tracing.ts'
import type { Claim } from './claim.ts'
import type { Ending } from './ending.ts'
import type { Execution } from './execution.ts'
import type { OperationRequest } from './request.ts'

/** The trace of a delivery. `undefined`: nobody follows it, or whoever should could not begin. */
export function beginTrace({ tracing, namespace }: Settings, operationId: string): Trace | undefined {
  let trace: Trace | undefined
  quietly(() => {
    trace = tracing?.begin({ namespace, operationId })
  })
  return trace
}

/** Claims, and lets the trace see the whole delivery. */
export async function traced(
  trace: Trace,
  request: OperationRequest,
  report: Report,
  claim: (request: OperationRequest, report: Report) => Promise<Claim>,
): Promise<Claim> {
  const { context } = trace
  try {
    const answer = await claim({ ...request, ...(context !== undefined && { trace: context }) }, (event, id) => {
      report(event, id)
      quietly(() => trace.saw(event))
    })
    if (answer.kind === 'claimed') return { kind: 'claimed', execution: tracedExecution(trace, answer.execution) }
    quietly(() => trace.end(answer.kind))
    return answer
  } catch (error) {
    quietly(() => trace.end('broken', { error }))
    throw error
  }
}

function tracedExecution(trace: Trace, execution: Execution): Execution {
  async function ended(ending: Promise<Ending>, thrown?: { readonly error: unknown }): Promise<Ending> {
    const how = endOf(await ending)
    quietly(() => trace.end(how, thrown))
    return ending
  }
  return copyWith(execution, {
    operation: tracedOperation(trace, execution.operation),
    within: <T>(work: () => T | PromiseLike<T>) => within(trace, { kind: 'work' }, () => execution.within(work)),
    complete: (...args: Parameters<Execution['complete']>) => ended(execution.complete(...args)),
    reject: (error: unknown, answer?: () => unknown) => ended(execution.reject(error, answer), { error }),
    giveUp: (...args: Parameters<Execution['giveUp']>) => ended(execution.giveUp(...args)),
  })
}

function tracedOperation(trace: Trace, operation: Operation): Operation {
  const step: Operation['step'] = (name, work, options) => {
    let wasCalled = false
    const noted: typeof work = (context) => {
      wasCalled = true
      return work(context)
    }
    // What is no function goes on to be refused.
    const run = () => operation.step(name, typeof work === 'function' ? noted : work, options)
    return within(trace, { kind: 'step', name, isRecalled: () => !wasCalled }, run)
  }
  const commit: Operation['commit'] = (...args) => within(trace, { kind: 'commit' }, () => operation.commit(...args))
  return copyWith(operation, { step, commit })
}

/** Runs a part exactly once, whatever the trace does with it. */
function within<T>(trace: Trace, part: TracedPart, run: () => Promise<T>): Promise<T> {
  let running: Promise<T> | undefined
  const once = () => {
    running ??= run()
    return running
  }
  quietly(() => trace.within(part, once))
  return once()
}

function endOf(ending: Ending): TraceEnd {
  switch (ending.kind) {
    case 'recorded':
      return ending.as
    case 'outdone':
      // After a commit its value is the answer; else it is that of whoever took over.
      return ending.outcome.kind === 'value' && ending.outcome.isCommitted ? 'completed' : 'replay'
    case 'lost':
      return 'lease-lost'
    case 'suspended':
    case 'kept':
    case 'unprotected':
    case 'unrecorded':
      return ending.kind
  }
}

/** Accessors stay accessors: a signal that nobody asks for must not be made. */
function copyWith<T extends object>(given: T, parts: Partial<T>): T {
  return Object.freeze(
    Object.create(Object.getPrototypeOf(given), {
      ...Object.getOwnPropertyDescriptors(given),
      ...Object.getOwnPropertyDescriptors(parts),
    }),
  )
}
