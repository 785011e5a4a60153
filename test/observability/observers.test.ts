import { describe, expect, test } from 'vitest'
import type { OperationEvent } from '../../lib/index.ts'
import { observers } from '../../lib/observability/index.ts'
import { ORDER, setUp } from '../core/harness.ts'

describe('several observers', () => {
  test('all see every event, in order, whatever one of them throws or rejects with', async () => {
    const seen: string[] = []
    const note = (name: string) => (event: OperationEvent) => void seen.push(`${name} ${event.type}`)
    const broken = () => {
      throw new Error('broken')
    }
    const rejecting = async () => Promise.reject(new Error('rejected'))
    const { idempotency } = setUp({ observer: observers(broken, note('a'), rejecting, note('b')) })
    expect(await idempotency.run(ORDER, () => 'done')).toMatchObject({ value: 'done' })
    expect(seen).toEqual(['a claimed', 'b claimed', 'a completed', 'b completed'])
  })

  test('that are no functions are refused at once', () => {
    expect(() => observers({} as never)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })
})
