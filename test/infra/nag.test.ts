import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'

const APP = fileURLToPath(new URL('../../infra/bin/nag.ts', import.meta.url))

const out = mkdtempSync(join(tmpdir(), 'cdk-nag-'))
afterAll(() => rmSync(out, { recursive: true }))

describe('under the rule packs AwsSolutions and Serverless', () => {
  const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'))
  const { status, stderr, stdout } = spawnSync(process.execPath, [APP], {
    encoding: 'utf8',
    env: {
      ...process.env,
      CDK_OUTDIR: out,
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, 'aws:cdk:bundling-stacks': [] }),
    },
  })

  test('the sample service has no finding that is not acknowledged', () => {
    expect(stdout + stderr).not.toMatch(/ERROR|WARNING/)
    expect(status).toBe(0)
  })

  test('each acknowledged finding is there, with its reason: none is acknowledged for nothing', () => {
    const { pluginReports } = JSON.parse(readFileSync(join(out, 'validation-report.json'), 'utf8'))
    const acknowledged = pluginReports.flatMap((report: { suppressedViolations: Acknowledged[] }) =>
      report.suppressedViolations.map(({ ruleName, acknowledgedAt, reason }) => {
        expect(reason.length).toBeGreaterThan(40)
        return `${acknowledgedAt} ${ruleName}`
      }),
    )
    expect(acknowledged.sort()).toEqual([
      'LambdaOncePayments/OrdersApi/Default Serverless-LambdaDLQ',
      'LambdaOncePayments/OrdersApi/Default Serverless-LambdaTracing',
      'LambdaOncePayments/Payments/DeadLetters Serverless-SQSRedrivePolicy',
      'LambdaOncePayments/Payments/EventSourceMapping Serverless-LambdaEventSourceMappingDestination',
      'LambdaOncePayments/PaymentsWorker/Default Serverless-LambdaDLQ',
      'LambdaOncePayments/PaymentsWorker/Default Serverless-LambdaTracing',
    ])
  })
})

interface Acknowledged {
  readonly ruleName: string
  readonly acknowledgedAt: string
  readonly reason: string
}
