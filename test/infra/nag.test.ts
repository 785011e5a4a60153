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
      'LambdaOncePayments/Api/Default/POST--webhooks--payments AwsSolutions-APIG4',
      'LambdaOncePayments/LedgerWorker/Default Serverless-LambdaDLQ',
      'LambdaOncePayments/LedgerWorker/Default Serverless-LambdaTracing',
      'LambdaOncePayments/OrdersApi/Default Serverless-LambdaDLQ',
      'LambdaOncePayments/OrdersApi/Default Serverless-LambdaTracing',
      'LambdaOncePayments/OutboxRelay/DeadLetters AwsSolutions-SQS3',
      'LambdaOncePayments/OutboxRelay/DeadLetters Serverless-SQSRedrivePolicy',
      'LambdaOncePayments/OutboxRelay/Default Serverless-LambdaDLQ',
      'LambdaOncePayments/OutboxRelay/Default Serverless-LambdaTracing',
      'LambdaOncePayments/OutboxRelay/Role/DefaultPolicy AwsSolutions-IAM5[Resource::LambdaOnceData:ExportsOutputFnGetAttIdempotencyTable22A5A209Arn796E3A97/stream/*]',
      'LambdaOncePayments/PaidOrders/DeadLetters Serverless-SQSRedrivePolicy',
      'LambdaOncePayments/PaidOrders/EventSourceMapping Serverless-LambdaEventSourceMappingDestination',
      'LambdaOncePayments/PaymentWebhook/Default Serverless-LambdaDLQ',
      'LambdaOncePayments/PaymentWebhook/Default Serverless-LambdaTracing',
      'LambdaOncePayments/Payments/DeadLetters Serverless-SQSRedrivePolicy',
      'LambdaOncePayments/Payments/EventSourceMapping Serverless-LambdaEventSourceMappingDestination',
      'LambdaOncePayments/PaymentsWorker/Default Serverless-LambdaDLQ',
      'LambdaOncePayments/PaymentsWorker/Default Serverless-LambdaTracing',
      'LambdaOncePayments/Reconciler/Default Serverless-LambdaDLQ',
      'LambdaOncePayments/Reconciler/Default Serverless-LambdaTracing',
      'LambdaOncePayments/Reconciler/Schedule Serverless-EventBusDLQ',
    ])
  })
})

interface Acknowledged {
  readonly ruleName: string
  readonly acknowledgedAt: string
  readonly reason: string
}
