import type { Store } from '../../../lib/index.ts'
import type { FakeClock } from '../../../lib/testing/index.ts'

/** What an example is played on. */
export interface Stage {
  readonly store: Store
  /** Moved by the play, so that a lease or a week takes no time. */
  readonly clock: FakeClock
  /** Says what happens next. */
  scene(text: string): void
  /** Says what was seen, and whether it is as promised. */
  saw(text: string, isAsPromised: boolean): void
}

/** An example played through, the way its deliveries would come. */
export type Play = (stage: Stage) => Promise<void>
