import type { Chance } from './chance.ts'
import { drawVariants, type Variants } from './variants.ts'

/** What a call over the network may come to. */
export const FATES = [
  /** It takes long to arrive and to be answered, within what a client waits for. */
  'slow',
  /** Its answer comes after the lease that it was to win or keep. */
  'past-the-lease',
  /** It is carried out, and the client hears that it failed. */
  'answer-lost',
  /** It never arrives. */
  'not-applied',
  /** The client hears that it failed, and then it is carried out. */
  'applied-late',
  /** It is refused for now. */
  'throttled',
  /** The SDK sends it again after a lost answer, and hears the answer to the repetition. */
  'sent-twice',
  /** The caller is killed before it arrives. */
  'killed-before',
  /** The caller is killed between its arrival and the answer. */
  'killed-after',
] as const
export type Fate = (typeof FATES)[number]

export const RECIPES = [
  'plain',
  'keyed',
  'stop',
  'probe',
  'horizon',
  'commit',
  'conflict',
  'delay',
  'wait',
  'errors',
  'parallel',
  'extend',
] as const
export type RecipeName = (typeof RECIPES)[number]

/** Clocks of machines: within the margin that the engine reckons with, or hours apart. */
export type SkewMode = 'within' | 'beyond'

/** What one schedule is made of. */
export interface Plan extends Variants {
  readonly seed: number
  readonly recipe: RecipeName
  /** Over a queue, as a client that asks again until it has its answer, or for a key only. */
  readonly shell: 'queue' | 'client' | 'admission'
  readonly machines: readonly { readonly skewMs: number }[]
  readonly operations: number
  /** Messages come all at once, and are delivered in large batches. */
  readonly isBurst: boolean
  readonly skew: SkewMode
  /** Where the lease comes from: the invocation's deadline, or a fixed length. */
  readonly lease: 'deadline' | 'fixed'
  readonly takeover: 'auto' | 'never'
  readonly retentionSeconds: number
  readonly unfinishedRetentionSeconds: number
  readonly relay: boolean
  readonly reconcilerShards: number
  readonly canRecover: boolean
  readonly hasOperator: boolean
  readonly effects: 'anywhere' | 'steps-only'
  readonly maxCrashes: number | undefined
  readonly waitSeconds: number | undefined
  readonly faultRate: number
  readonly fates: readonly Fate[]
  readonly killRate: number
  readonly freezeRate: number
  readonly faultsUntilMs: number
}

export const START_MS = 1_700_000_000_000
export const LEASE_SECONDS = 10
export const CLOCK_SKEW_MS = 1_000

/** Draws a schedule's plan. Not everything goes wrong in every schedule: some faults only show when others are away. */
export function drawPlan(seed: number, chance: Chance, skew: SkewMode, focus: Partial<Plan> = {}): Plan {
  const drawn = chance.pick(RECIPES)
  const isAdmission = chance.happens(0.08)
  const recipe = focus.recipe ?? (isAdmission ? 'plain' : drawn)
  const shell = chance.happens(0.5) ? 'queue' : 'client'
  const drawnShell = isAdmission && focus.recipe === undefined ? 'admission' : shell
  const isShort = skew === 'within' && recipe !== 'wait' && chance.happens(0.2)
  const variants = drawVariants(seed, { recipe, shell: focus.shell ?? drawnShell, skew })
  const isFlood = focus.isFlood ?? variants.isFlood
  const isBurst = isFlood || seed % 3 === 0
  const takeover =
    skew === 'within' && ['plain', 'keyed', 'commit'].includes(recipe) && chance.happens(0.2) ? 'never' : 'auto'
  const isSuspending = recipe === 'delay' || recipe === 'wait'
  const reconcilerShards = isSuspending || chance.happens(0.4) ? chance.between(1, 2) : 0
  const half = CLOCK_SKEW_MS / 2
  const skewMs = () => (skew === 'within' ? chance.between(-half, half) : chance.between(-3_600_000, 3_600_000))
  return {
    ...variants,
    seed,
    recipe,
    shell: drawnShell,
    skew,
    machines: Array.from({ length: chance.between(2, 4) }, () => ({ skewMs: skewMs() })),
    operations: (isBurst ? chance.between(4, 10) : chance.between(1, 3)) * (isFlood ? 4 : 1),
    isBurst,
    // The lease of an admission is its time to live, however long its holder lives.
    lease: chance.happens(0.5) && !isAdmission ? 'deadline' : 'fixed',
    takeover,
    retentionSeconds: isShort ? chance.between(20, 90) : 86_400,
    unfinishedRetentionSeconds: isShort ? chance.between(3, 60) : 1_209_600,
    relay: recipe === 'commit' || chance.happens(0.5),
    reconcilerShards,
    canRecover: chance.happens(0.5),
    hasOperator: takeover === 'never' || chance.happens(0.5),
    effects: chance.happens(0.5) ? 'anywhere' : 'steps-only',
    maxCrashes: chance.happens(0.1) ? chance.between(0, 2) : undefined,
    waitSeconds: shell === 'client' && chance.happens(0.2) ? chance.between(1, 8) : undefined,
    faultRate: chance.pick([0, 0.05, 0.15, 0.3]),
    fates: FATES.filter(() => chance.happens(0.5)),
    killRate: chance.pick([0, 0.1, 0.4]),
    freezeRate: chance.pick([0, 0, 0.2]),
    faultsUntilMs: START_MS + chance.between(20, 120) * 1000,
    ...focus,
  }
}
