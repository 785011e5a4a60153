import type { Clock } from '../../base/ports.ts'

/** How long what is due waits for what is under way. */
export interface Patience {
  readonly clock: Clock
  readonly atMostMs: number
}

/**
 * Collects what becomes due in one turn of the event loop, and sends it at the turn's end: nothing waits for what may
 * come. With `patience` what becomes due while something is under way goes when that has come back, all together.
 *
 * @param send - never rejects
 */
export function createLane<T>(send: (due: readonly T[]) => Promise<void>, patience?: Patience): (item: T) => void {
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
      if (patience === undefined || underway === 0) depart()
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
    underway++
    void send(leaving).then(() => {
      underway--
      atEndOfTurn()
    })
  }

  return (item) => {
    due.push(item)
    atEndOfTurn()
  }
}
