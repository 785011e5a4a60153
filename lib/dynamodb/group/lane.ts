import type { Clock } from '../../base/ports.ts'

/** How long what is due waits for what is under way. */
export interface Patience {
  readonly clock: Clock
  readonly atMostMs: number
  /** So many that are due wait for nothing. */
  readonly full: number
  /** Only where so many are under way does anything wait. */
  readonly sideBySide: number
}

/**
 * Collects what becomes due in one turn of the event loop, and sends it at the turn's end: nothing waits for what may
 * come. With `patience` what becomes due while enough is under way goes when some of that has come back, all
 * together, or when it has become enough itself.
 *
 * @param send - sends it in parts, each under way until its promise is kept; none is ever broken
 */
export function createLane<T>(
  send: (due: readonly T[]) => readonly Promise<unknown>[],
  patience?: Patience,
): (item: T) => void {
  let due: T[] = []
  let underway = 0
  let isTurnOpen = false
  let wait: AbortController | undefined

  function atEndOfTurn(): void {
    if (isTurnOpen) return
    isTurnOpen = true
    // Runs when no promise is left to go on, and before any timer or answer.
    process.nextTick(() => {
      isTurnOpen = false
      if (due.length === 0) return
      if (patience === undefined || underway < patience.sideBySide || due.length >= patience.full) depart()
      else void departLater(patience)
    })
  }

  async function departLater({ clock, atMostMs }: Patience): Promise<void> {
    if (wait !== undefined) return
    wait = new AbortController()
    const { signal } = wait
    await clock.wait(atMostMs, signal)
    if (!signal.aborted) depart()
  }

  function depart(): void {
    wait?.abort()
    wait = undefined
    const leaving = due
    due = []
    for (const part of send(leaving)) {
      underway++
      void part.then(() => {
        underway--
        atEndOfTurn()
      })
    }
  }

  return (item) => {
    due.push(item)
    atEndOfTurn()
  }
}
