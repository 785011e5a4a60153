import { randomUUID } from 'node:crypto'
import type { Context } from 'aws-lambda'
import { refuseUnknown, secondsOption } from '../base/guards.ts'
import type { Clock } from '../base/ports.ts'

/** What a test says of an invocation. */
export interface LambdaContextOptions {
  /**
   * The time that is left, in seconds. 0: it is over.
   * @defaultValue 30
   */
  readonly remainingSeconds?: number
  /**
   * The clock that the remaining time runs by.
   * @defaultValue none: it stays as it is
   */
  readonly clock?: Clock
  /** @defaultValue 'handler' */
  readonly functionName?: string
  /** @defaultValue a new one, as every invocation has */
  readonly awsRequestId?: string
}

/**
 * Lambda's context, as a handler gets it.
 *
 * @example
 * const clock = fakeClock()
 * const answer = await handler(event, lambdaContext({ remainingSeconds: 10, clock }))
 *
 * @throws InvalidOptionError when an option is wrong
 */
export function lambdaContext(options: LambdaContextOptions = {}): Context {
  refuseUnknown('lambdaContext', options, ['remainingSeconds', 'clock', 'functionName', 'awsRequestId'])
  const { clock, functionName = 'handler', awsRequestId = randomUUID() } = options
  const remainingMs = (secondsOption('remainingSeconds', options.remainingSeconds, 0) ?? 30) * 1000
  const endMs = (clock?.now() ?? 0) + remainingMs
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:eu-central-1:111122223333:function:${functionName}`,
    memoryLimitInMB: '256',
    awsRequestId,
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: '2026/01/01/[$LATEST]0123456789abcdef0123456789abcdef',
    getRemainingTimeInMillis: () => endMs - (clock?.now() ?? 0),
    // Lambda's runtime has them no more where this package runs; its types ask for them.
    done: () => undefined,
    fail: () => undefined,
    succeed: () => undefined,
  }
}
