import type { LocalFunction } from '../template/model.ts'

/** A function of the template that can be invoked, whatever it runs in. */
export interface InvocableFunction {
  readonly definition: LocalFunction
  /** Runs the function once, unless as many invocations as it may have are in flight: then it is throttled. */
  invoke(event: unknown): Promise<InvocationResult>
  /** Takes no invocation any more and resolves when the last output is in the log. */
  stop(): Promise<void>
}

/** How an invocation ended, as Lambda tells its caller. */
export type InvocationResult =
  | { readonly kind: 'returned'; readonly requestId: string; readonly payload: unknown }
  | {
      readonly kind: 'error'
      readonly requestId: string
      /** `Error`, `Runtime.ExitError`, `Sandbox.Timedout`, … */
      readonly errorType: string
      readonly errorMessage: string
    }
  /** No environment was free and none could be added; nothing ran. */
  | { readonly kind: 'throttled' }

/** The failed result of an invocation. */
export function failed(requestId: string, errorType: string, message: string): InvocationResult {
  return { kind: 'error', requestId, errorType, errorMessage: message }
}

/** The failed result of an invocation that took too long. */
export function timedOut(requestId: string, { timeoutSeconds }: LocalFunction): InvocationResult {
  const message = `RequestId: ${requestId} Error: Task timed out after ${timeoutSeconds.toFixed(2)} seconds`
  return failed(requestId, 'Sandbox.Timedout', message)
}
