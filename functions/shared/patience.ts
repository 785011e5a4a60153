/** By default a client of the SDK waits for an answer without end; this leaves a function, which has seconds, time to say so. */
export const PATIENCE = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
}
