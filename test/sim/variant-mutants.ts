import type { Mutant } from './mutants.ts'
import type { Plan } from './plan.ts'

const STORM: Partial<Plan> = { faultRate: 0.3, killRate: 0.4, freezeRate: 0.2 }
const FIFO: Partial<Plan> = { ...STORM, shell: 'queue', isFifo: true, isBurst: true, operations: 5 }
const LARGE: Partial<Plan> = { ...STORM, bulk: 2_400 }

/** Protections of large values, of codecs, of runs without protection, and of the order in groups. */
export const VARIANT_MUTANTS: readonly Mutant[] = [
  {
    name: 'pieces are there before what points at them',
    file: 'outcome/stored.ts',
    from: 'await untilAnswered(() => store.putParts({ partsId, parts, expiresAt }), pacing)',
    to: 'void store.putParts({ partsId, parts, expiresAt }).catch(() => undefined)',
    focus: { ...LARGE, recipe: 'plain' },
  },
  {
    name: 'pieces have names of their own',
    file: 'outcome/stored.ts',
    from: 'const partsId = newId()',
    to: 'const partsId = of.operationId',
    focus: { ...LARGE, recipe: 'keyed' },
  },
  {
    name: 'pieces outlive what points at them',
    file: 'outcome/stored.ts',
    from: 'pointerExpiresAt + PARTS_OUTLIVE_SECONDS',
    to: 'pointerExpiresAt',
    focus: { ...LARGE, recipe: 'plain', shell: 'client', retentionSeconds: 20, unfinishedRetentionSeconds: 60 },
  },
  {
    name: 'a codec that is away makes nothing unstorable',
    file: 'outcome/coded.ts',
    from: 'throw new StoreError(`The codec',
    to: 'throw new OutcomeUnstorableError(`The codec',
    focus: { ...STORM, isCoded: true, recipe: 'plain' },
  },
  {
    name: 'a step that cannot be read now is read later',
    file: 'steps/steps.ts',
    from: "'OUTCOME_LOST',\n  'INVALID_OPTION',",
    to: "'OUTCOME_LOST',\n  'OUTCOME_UNREADABLE',\n  'INVALID_OPTION',",
    focus: { ...STORM, isCoded: true, recipe: 'keyed', shell: 'client', effects: 'anywhere' },
  },
  {
    name: 'a signal that cannot be read now is read later',
    file: 'engine/execution.ts',
    from: " || isLambdaOnceError(error, 'OUTCOME_UNREADABLE')",
    to: '',
    focus: { ...STORM, isCoded: true, recipe: 'wait', shell: 'client', effects: 'anywhere' },
  },
  {
    name: 'what was seen to have begun does not run without a claim',
    file: 'engine/claim.ts',
    from: "hasBegun = decide(seen).kind !== 'replace'",
    to: 'hasBegun = false',
    focus: { ...STORM, isOpen: true, shell: 'client', recipe: 'plain', fates: ['not-applied', 'throttled'] },
  },
  {
    name: "onStoreError: 'closed'",
    file: 'engine/engine.ts',
    from: "answer.hasBegun || settings.onStoreError === 'closed'",
    to: 'answer.hasBegun',
    focus: { ...STORM, isOpen: false, fates: ['not-applied', 'throttled'] },
  },
  {
    name: 'a failed message holds up its group',
    file: 'batch/run.ts',
    from: "if (before?.kind === 'failed') return { kind: 'failed', why: 'order' }",
    to: '',
    focus: { ...FIFO, recipe: 'errors' },
  },
  {
    name: 'messages of a group one after another',
    file: 'batch/plan.ts',
    from: 'if (lane !== undefined) lastOfGroup.set(lane, index)',
    to: '',
    focus: { ...FIFO, recipe: 'keyed' },
  },
]
