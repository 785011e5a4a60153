import type { LocalFunction, LocalModel } from './template/model.ts'

/** A function of the service by its part in the job. */
export interface Part {
  readonly name: PartName
  /** Of its operations, as its log lines name it. */
  readonly namespace: string
  /** Finds it by how it is wired or what it is told, never by its name, which is the template's to choose. */
  readonly find: (model: LocalModel) => LocalFunction | undefined
}

/** What `--kill` takes. */
export type PartName = 'orders-api' | 'payments-worker'

/** The parts; a further function is one more entry. */
export const PARTS: readonly Part[] = [
  {
    name: 'orders-api',
    namespace: 'orders',
    find: ({ routes, functions }) => {
      const route = routes.find(({ routeKey }) => routeKey === 'POST /orders')
      return functions.find(({ name }) => name === route?.functionName)
    },
  },
  {
    name: 'payments-worker',
    namespace: 'payments',
    find: ({ functions }) => functions.find(({ environment }) => 'PAYMENT_PROVIDER_URL' in environment),
  },
]

/** The part that a function of the model has, if any. */
export function partOf(definition: LocalFunction, model: LocalModel): PartName | undefined {
  return PARTS.find((part) => part.find(model)?.name === definition.name)?.name
}
