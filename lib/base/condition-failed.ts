/** Whether a condition did not hold. Known by name: two copies of the SDK are common in real bundles. */
export function isConditionFailed(error: unknown): error is Error & { readonly Item?: unknown } {
  return error instanceof Error && error.name === 'ConditionalCheckFailedException'
}
