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
