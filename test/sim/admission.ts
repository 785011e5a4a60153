import type { AdmittedKey } from '../../lib/index.ts'
import type { Asker, Names } from './client.ts'
import type { Order } from './recipes.ts'
import type { World } from './world.ts'

/** Somebody who takes a key for a time, does something under it, and confirms it or gives it back. */
export function startAdmission(world: World, order: Order, { idOf }: Names): Asker {
  const { scheduler, chance, judge, subject, say } = world
  let isDone = false
  const id = idOf(order)

  function ask(): void {
    const { process, idempotency } = world.spawn('worker')
    let isOver = false
    const again = () => {
      if (isOver) return
      isOver = true
      scheduler.after(chance.between(200, 10_000), () => !isDone && ask())
    }
    process.onDeath(again)
    const { key, scope } = order
    idempotency
      .acquire({ key, scope }, { ttlSeconds: chance.between(2, 15) })
      .then(async (admission) => {
        say(`${process.name} is ${admission.admitted ? 'admitted' : 'refused'}`)
        if (admission.admitted) await hold(admission)
        // What is confirmed is done, and a duplicate has nothing to do.
        else if (admission.isConfirmed) isDone = true
      })
      .catch((error: unknown) => {
        if (!subject.isLambdaOnceError(error)) judge.broken('no unexpected error', String(error))
      })
      .finally(() => {
        process.end()
        again()
      })

    async function hold(admission: AdmittedKey): Promise<void> {
      const stay = judge.entered(process, { id }, 'admission')
      await process.clock.wait(world.isStormy ? chance.pick([1, 50, 1_000, 9_000]) : 5)
      stay.leave()
      if (world.isStormy && chance.happens(0.3)) {
        const isReleased = await admission.release()
        say(`${process.name} ${isReleased ? 'gives the key back' : 'has nothing to give back'}`)
        return
      }
      const confirmed = await admission.confirm(`receipt of ${process.name}`)
      say(`${process.name}: ${confirmed}`)
      isDone = true
    }
  }

  scheduler.after(chance.between(0, 30_000), ask)
  return {
    order,
    get isDone() {
      return isDone
    },
  }
}
