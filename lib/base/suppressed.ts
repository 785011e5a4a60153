import { isLambdaOnceError } from './errors.ts'

/** A failed store call on the error path must not hide the business error: it goes along as `suppressed`. */
export function noteBeside(error: unknown, storeError: unknown): void {
  if (error instanceof Error && Object.isExtensible(error) && !isLambdaOnceError(error, 'STORE')) {
    Object.defineProperty(error, 'suppressed', { value: storeError, configurable: true, writable: true })
  }
}
