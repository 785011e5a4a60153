export { RECONCILER_DEFAULTS, type ReconcilerOptions, type Recovery } from './options.ts'
export type { Deed } from './reconcile.ts'
export { type ReconcilerReport, reconciler } from './reconciler.ts'
