import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { NodejsFunctionProps } from 'aws-cdk-lib/aws-lambda-nodejs'
import type { Construct } from 'constructs'
import { refuse } from '../checks/refuse.ts'
import { bundledFunction } from './bundled-function.ts'

/** A function that exists, or the file it is made of: exactly one of the two. */
export interface FunctionOrEntry {
  /**
   * A function that exists already. Give it the table's `environment`.
   * @default - one is made of `entry`
   */
  readonly handler?: IFunction
  /**
   * The file with the handler.
   * @default - `handler` is used
   */
  readonly entry?: string
  /**
   * More about the function that is made of `entry`.
   * @default - Node 24 on arm64, 512 MB
   */
  readonly functionProps?: NodejsFunctionProps
}

/** The function that was brought along, or a new one with these variables. @throws Error unless exactly one is given. */
export function functionOrEntry(
  scope: Construct,
  { handler, entry, functionProps }: FunctionOrEntry,
  defaults: NodejsFunctionProps,
): IFunction {
  if ((handler === undefined) === (entry === undefined)) {
    refuse(scope, `Exactly one of handler and entry must be set; ${handler === undefined ? 'none' : 'both'} is.`)
  }
  if (handler !== undefined) return handler
  const { fn } = bundledFunction(scope, {
    ...defaults,
    ...functionProps,
    ...(entry !== undefined && { entry }),
    environment: { ...defaults.environment, ...functionProps?.environment },
  })
  return fn
}
