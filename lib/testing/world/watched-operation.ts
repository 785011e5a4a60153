import type { Engine } from '../../engine/engine.ts'
import type { Execution } from '../../engine/execution.ts'
import type { Idempotency } from '../../idempotency/api.ts'
import { engineOf } from '../../idempotency/idempotency.ts'
import type { Operation } from '../../operation/operation.ts'

/** Runs the work of a step where the effects in it can be told to be in it. */
export type InsideStep = <T>(
  step: { readonly name: string; readonly stops: boolean },
  operationId: string,
  work: () => T,
) => T

/** The same `Idempotency`, whose steps can be seen from outside, in whatever shell it is used. */
export function watched(idempotency: Idempotency, inside: InsideStep): Idempotency {
  const engine = engineOf(idempotency)
  const watchedEngine: Engine = Object.freeze({
    ...engine,
    async claim(...args: Parameters<Engine['claim']>) {
      const claim = await engine.claim(...args)
      return claim.kind === 'claimed' ? { ...claim, execution: executionOf(claim.execution, inside) } : claim
    },
    execute: <T>(
      request: Parameters<Engine['execute']>[0],
      work: (operation: Operation) => T | PromiseLike<T>,
    ): ReturnType<typeof engine.execute<T>> =>
      engine.execute(request, (operation) => work(operationOf(operation, inside))),
  })
  const same: Idempotency = {
    ...idempotency,
    run: (request, work) =>
      // What is no function goes on to be refused.
      idempotency.run(request, typeof work === 'function' ? (operation) => work(operationOf(operation, inside)) : work),
  }
  // The engine is found under this registered symbol, by any copy of the package.
  return Object.freeze(Object.defineProperty(same, Symbol.for('lambda-once.engine'), { value: watchedEngine }))
}

function executionOf(execution: Execution, inside: InsideStep): Execution {
  return copyWith(execution, 'operation', operationOf(execution.operation, inside))
}

function operationOf(operation: Operation, inside: InsideStep): Operation {
  const step: Operation['step'] = (name, work, options) =>
    operation.step(
      name,
      // What is no function goes on to be refused.
      typeof work === 'function'
        ? (context) => inside({ name, stops: options?.onUnknown === 'stop' }, operation.id, () => work(context))
        : work,
      options,
    )
  return copyWith(operation, 'step', step)
}

/** Accessors stay accessors: a signal that nobody asks for must not be made. */
function copyWith<T extends object, K extends keyof T>(given: T, name: K, value: T[K]): T {
  return Object.create(Object.getPrototypeOf(given), {
    ...Object.getOwnPropertyDescriptors(given),
    [name]: { value, enumerable: true },
  })
}
