import { chanceFrom } from './chance.ts'
import type { RecipeName, SkewMode } from './plan.ts'

/** What else one schedule is made of. Drawn apart, so that the rest of a schedule does not hang on it. */
export interface Variants {
  /** How many characters are added to every answer and every step's result. 0: none. */
  readonly bulk: number
  /** Whether every stored value is encoded by a service that can be away. */
  readonly isCoded: boolean
  /** Whether the work runs without protection when the store cannot be reached. */
  readonly isOpen: boolean
  /** Whether the queue keeps an order within the groups of its messages: those of one scope. */
  readonly isFifo: boolean
  /** Whether messages come in batches that do not fit into one request, and all go on at once. */
  readonly isFlood: boolean
}

/** More than one piece. */
const SEVERAL_PIECES = 700_000

/** Running without protection, these have no more than one effect all the same: the provider knows their keys. */
const SAFE_UNPROTECTED: readonly RecipeName[] = ['plain', 'keyed', 'parallel', 'extend']
/** Nothing is suspended on a FIFO queue, where later messages would overtake it. */
const SUSPENDING: readonly RecipeName[] = ['delay', 'wait']

export function drawVariants(
  seed: number,
  { recipe, shell, skew }: { recipe: RecipeName; shell: 'queue' | 'client' | 'admission'; skew: SkewMode },
): Variants {
  const chance = chanceFrom(seed * 2 + 1_000_003)
  const isLarge = chance.happens(0.15)
  const bulk = chance.happens(0.03) ? SEVERAL_PIECES : 2_400
  const isCoded = chance.happens(0.15)
  const isOpen = chance.happens(0.25)
  const isFifo = chance.happens(0.4)
  const isFlood = chance.happens(0.04)
  return {
    bulk: isLarge ? bulk : 0,
    isCoded,
    isOpen: isOpen && skew === 'within' && shell === 'client' && SAFE_UNPROTECTED.includes(recipe),
    isFifo: isFifo && skew === 'within' && shell === 'queue' && !SUSPENDING.includes(recipe),
    isFlood: isFlood && shell === 'queue',
  }
}
