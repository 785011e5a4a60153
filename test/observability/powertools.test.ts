import { Metrics } from '@aws-lambda-powertools/metrics'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { powertoolsMetrics } from '../../lib/observability/index.ts'
import { ORDER, setUp } from '../core/harness.ts'
import { readEmf } from './emf-format.ts'

let written: string[] = []

beforeEach(() => {
  vi.stubEnv('POWERTOOLS_DEV', undefined)
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', undefined)
  written = []
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text).trimEnd())
    return true
  })
})

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

describe('Powertools’ Metrics', () => {
  test('write what CloudWatch reads, with the namespace as the only dimension', async () => {
    const metrics = new Metrics({ namespace: 'lambda-once', serviceName: 'checkout' })
    const { idempotency, clock } = setUp({ observer: powertoolsMetrics(metrics) })
    await idempotency.run(ORDER, () => clock.advance(250))
    const lines = written.map(readEmf)
    expect(lines.map(({ _aws }) => _aws.CloudWatchMetrics[0])).toEqual(
      ['claimed', 'completed', 'duration'].map((Name) => ({
        Namespace: 'lambda-once',
        Dimensions: [['namespace']],
        Metrics: [{ Name, Unit: Name === 'duration' ? 'Milliseconds' : 'Count' }],
      })),
    )
    expect(lines[1]).toMatchObject({ namespace: 'payments', completed: 1, operationId: expect.any(String) })
    expect(lines[2]).toMatchObject({ duration: 250 })
  })

  test('keep their own metrics and dimensions', async () => {
    const metrics = new Metrics({ namespace: 'shop', serviceName: 'checkout' })
    const { idempotency } = setUp({ observer: powertoolsMetrics(metrics) })
    metrics.addDimension('country', 'de').addMetric('orders', 'Count', 3)
    await idempotency.run(ORDER, () => 'done')
    written = []
    metrics.publishStoredMetrics()
    expect(written.map(readEmf)).toEqual([expect.objectContaining({ orders: 3, country: 'de', service: 'checkout' })])
    expect(written[0]).not.toContain('claimed')
  })

  test('that are switched off write nothing', async () => {
    vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'true')
    const { idempotency } = setUp({ observer: powertoolsMetrics(new Metrics({ namespace: 'lambda-once' })) })
    await idempotency.run(ORDER, () => 'done')
    expect(written).toEqual([])
  })

  test('are refused when they are something else', () => {
    expect(() => powertoolsMetrics({} as never)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })
})
