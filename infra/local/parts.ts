import type { LocalFunction, LocalModel } from './template/model.ts'

/** A function of the service by its part in the job. */
export interface Part {
  readonly name: PartName
  /** Finds it by how it is wired or what it is told, never by its name, which is the template's to choose. */
  readonly find: (model: LocalModel) => LocalFunction | undefined
}

/** What `--kill` takes. */
export type PartName =
  | 'orders-api'
  | 'payments-worker'
  | 'payment-webhook'
  | 'outbox-relay'
  | 'ledger-worker'
  | 'reconciler'

/** The parts; a further function is one more entry. */
export const PARTS: readonly Part[] = [
  { name: 'orders-api', find: behindRoute('POST /orders') },
  { name: 'payments-worker', find: withVariable('PAYMENT_PROVIDER_URL') },
  { name: 'payment-webhook', find: behindRoute('POST /webhooks/payments') },
  { name: 'outbox-relay', find: ({ streamMappings, functions }) => named(functions, streamMappings[0]?.functionName) },
  { name: 'ledger-worker', find: withVariable('BALANCES_TABLE') },
  { name: 'reconciler', find: ({ schedules, functions }) => named(functions, schedules[0]?.functionName) },
]

/** The part that a function of the model has, if any. */
export function partOf(definition: LocalFunction, model: LocalModel): PartName | undefined {
  return PARTS.find((part) => part.find(model)?.name === definition.name)?.name
}

function behindRoute(wanted: string): Part['find'] {
  return ({ routes, functions }) => named(functions, routes.find(({ routeKey }) => routeKey === wanted)?.functionName)
}

function withVariable(name: string): Part['find'] {
  return ({ functions }) => functions.find(({ environment }) => name in environment)
}

function named(functions: readonly LocalFunction[], wanted: string | undefined): LocalFunction | undefined {
  return functions.find(({ name }) => name === wanted)
}
