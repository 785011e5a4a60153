import { describe, expect, test } from 'vitest'
import { PermanentError } from '../../lib/index.ts'
import { gate, setUp } from './set-up.ts'
import { event, message, QUEUE_ARN, redelivered } from './sqs-event.ts'

const INTERLEAVED = ['A1', 'B1', 'A2', 'B2', 'A3']
const batchOf = (...ids: string[]) => event(...ids.map((id) => message(id, { group: id.slice(0, 1) })))

describe('a failure on a FIFO queue', () => {
  test.each<['group' | 'batch', string, string[], string[]]>([
    ['group', 'A1', ['A1', 'A2', 'A3'], ['A1', 'B1', 'B2']],
    ['group', 'A2', ['A2', 'A3'], ['A1', 'B1', 'A2', 'B2']],
    ['group', 'A3', ['A3'], ['A1', 'B1', 'A2', 'B2', 'A3']],
    ['group', 'B1', ['B1', 'B2'], ['A1', 'B1', 'A2', 'A3']],
    ['batch', 'A1', ['A1', 'B1', 'A2', 'B2', 'A3'], ['A1']],
    ['batch', 'A2', ['A2', 'B2', 'A3'], ['A1', 'B1', 'A2']],
    ['batch', 'A3', ['A3'], ['A1', 'B1', 'A2', 'B2', 'A3']],
    ['batch', 'none', [], ['A1', 'B1', 'A2', 'B2', 'A3']],
  ])('stops the %s: %s fails', async (fifo, failing, failures, started) => {
    const subject = setUp({
      options: { fifo },
      work: (id) => {
        if (id === failing) throw new Error('boom')
      },
    })
    expect(await subject.deliver(batchOf(...INTERLEAVED))).toEqual(failures)
    expect(subject.ran.toSorted()).toEqual(started.toSorted())
    expect(subject.memory.records()).toHaveLength(started.length)
    expect(subject.events.filter((seen) => seen.type === 'rejected' && seen.why === 'order')).toHaveLength(
      INTERLEAVED.length - started.length,
    )
  })

  test('leaves what was done before it done: the redelivery goes on from there', async () => {
    let isDown = true
    const { deliver, ran } = setUp({
      work: (id) => {
        if (id === 'A2' && isDown) throw new Error('boom')
      },
    })
    expect(await deliver(batchOf('A1', 'A2', 'A3'))).toEqual(['A2', 'A3'])
    isDown = false
    expect(await deliver(redelivered(batchOf('A2', 'A3')))).toEqual([])
    expect(ran).toEqual(['A1', 'A2', 'A2', 'A3'])
  })

  test('that was final stops the group at every delivery', async () => {
    const { deliver, ran } = setUp({
      work: (id) => {
        if (id === 'A1') throw new PermanentError('Never.')
      },
    })
    await deliver(batchOf('A1', 'A2'))
    expect(await deliver(redelivered(batchOf('A1', 'A2')))).toEqual(['A1', 'A2'])
    expect(ran).toEqual(['A1'])
  })

  test.each<['fail' | 'ack', string[]]>([
    ['fail', ['A1', 'A2']],
    ['ack', []],
  ])('by a poisoned message counts with poison: %s', async (poison, failures) => {
    const { deliver } = setUp({ options: { poison } })
    const batch = event(message('A1', { group: 'A', body: '{' }), message('A2', { group: 'A' }))
    expect(await deliver(batch)).toEqual(failures)
  })
})

describe('order on a FIFO queue', () => {
  test('is kept within a group, while groups run side by side', async () => {
    const log: string[] = []
    const both = { A: gate(), B: gate() }
    const { deliver } = setUp({
      work: async (id) => {
        log.push(`${id} starts`)
        const group = id.startsWith('A') ? 'A' : 'B'
        both[group].open()
        // Ends only when the other group has started, too.
        await both[group === 'A' ? 'B' : 'A'].opened
        log.push(`${id} ends`)
      },
    })
    expect(await deliver(batchOf('A1', 'A2', 'B1', 'B2'))).toEqual([])
    const of = (group: string) => log.filter((line) => line.startsWith(group))
    expect(of('A')).toEqual(['A1 starts', 'A1 ends', 'A2 starts', 'A2 ends'])
    expect(of('B')).toEqual(['B1 starts', 'B1 ends', 'B2 starts', 'B2 ends'])
  })

  test('is that of the whole batch with fifo: batch', async () => {
    const { deliver, ran } = setUp({ options: { fifo: 'batch' }, work: async () => undefined })
    await deliver(batchOf(...INTERLEAVED))
    expect(ran).toEqual(INTERLEAVED)
  })

  test('is not asked for by a group id on a standard queue, where it only means fairness', async () => {
    const { deliver, ran } = setUp({
      work: (id) => {
        if (id === '1') throw new Error('boom')
      },
    })
    const fair = (id: string) => message(id, { eventSourceARN: QUEUE_ARN, attributes: { MessageGroupId: 'tenant' } })
    expect(await deliver(event(fair('1'), fair('2')))).toEqual(['1'])
    expect(ran).toEqual(['1', '2'])
  })

  test('goes over completed messages that come again', async () => {
    const { deliver, ran } = setUp()
    await deliver(batchOf('A1'))
    expect(await deliver(redelivered(batchOf('A1', 'A2')))).toEqual([])
    expect(ran).toEqual(['A1', 'A2'])
  })
})
