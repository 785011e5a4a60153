import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  METRIC_DIMENSION as WATCHED_DIMENSION,
  WATCHED_EVENTS,
  METRIC_NAMESPACE as WATCHED_NAMESPACE,
} from '../../infra/constructs/watch/metrics.ts'
import { DURATION_METRIC, EVENT_TYPES, METRIC_DIMENSION, METRIC_NAMESPACE } from '../../lib/observability/index.ts'

const guide = readFileSync(new URL('../../docs/signals.md', import.meta.url), 'utf8')
const alarms = readFileSync(new URL('../../infra/constructs/watch/alarms.ts', import.meta.url), 'utf8')

describe('what is written is what the dashboard looks at', () => {
  test('in the same namespace, by the same dimension', () => {
    expect([METRIC_NAMESPACE, METRIC_DIMENSION]).toEqual([WATCHED_NAMESPACE, WATCHED_DIMENSION])
  })

  test.each(WATCHED_EVENTS)('%s', (event) => {
    expect(EVENT_TYPES).toContain(event)
  })
})

describe('the guide says what to do about', () => {
  const rows = guide.split('\n').filter((line) => line.startsWith('| '))
  const cells = rows.map((row) => row.split('|')[1]?.trim())

  test.each([...EVENT_TYPES, DURATION_METRIC])('the metric %s', (name) => {
    expect(cells.filter((cell) => cell === `\`${name}\``)).toHaveLength(1)
  })

  test.each([...alarms.matchAll(/id: [`'](?:\$\{name\})?(\w+)[`']/g)].map(([, id = '']) => id))(
    'the alarm %s',
    (id) => {
      expect(cells.filter((cell) => cell === `**${id}**`)).toHaveLength(1)
    },
  )
})
