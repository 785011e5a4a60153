import { readFileSync } from 'node:fs'
import { Duration } from 'aws-cdk-lib'
import { describe, expect, test } from 'vitest'
import { ALL_CHECKS } from '../../infra/constructs/checks/all.ts'
import {
  ALARM_THRESHOLDS,
  IdempotencyTable,
  IdempotentFunction,
  IdempotentQueue,
} from '../../infra/constructs/index.ts'
import { tableActions } from '../../infra/constructs/table/grants.ts'
import { ENTRY, newStack, only } from './constructs/set-up.ts'

const guide = readFileSync(new URL('../../docs/cdk.md', import.meta.url), 'utf8')

test('the guide lists every check, and no other, as the code has it', () => {
  const rows = [...guide.matchAll(/^\| `([\w-]+)` \| (refused|warned) \| (.+) \| (.+) \|$/gm)].map((row) =>
    row.slice(1),
  )
  expect(rows).toEqual(
    ALL_CHECKS.map(({ id, severity, about, acknowledgedBy }) => [
      id,
      severity,
      about,
      acknowledgedBy ? `\`${acknowledgedBy}\`` : severity === 'warned' ? 'its id' : '–',
    ]),
  )
})

describe('the templates without CDK have the numbers that the constructs compute for a timeout of 10 seconds', () => {
  const stack = newStack()
  const table = new IdempotencyTable(stack, 'Table')
  const consumer = new IdempotentFunction(stack, 'Worker', { entry: ENTRY, table, timeout: Duration.seconds(10) })
  new IdempotentQueue(stack, 'Payments', { consumer })
  const queue = only(stack, 'AWS::SQS::Queue', /^Payments[0-9A-F]{8}$/).properties
  const deadLetters = only(stack, 'AWS::SQS::Queue', /^PaymentsDeadLetters/).properties
  const retention: string = only(stack, 'AWS::Lambda::Function').properties.Environment.Variables.RETENTION_SECONDS
  const block = (language: string, marker: string): string => {
    const blocks = [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
      ([, code = '']) => code,
    )
    return blocks.find((code) => code.includes(marker)) ?? ''
  }

  test.each([
    [
      'CloudFormation',
      block('yaml', 'AWS::SQS::Queue'),
      [
        `VisibilityTimeout: ${queue.VisibilityTimeout}`,
        `MessageRetentionPeriod: ${queue.MessageRetentionPeriod}`,
        `MessageRetentionPeriod: ${deadLetters.MessageRetentionPeriod}`,
        `maxReceiveCount: ${queue.RedrivePolicy.maxReceiveCount}`,
        `RETENTION_SECONDS: ${retention}`,
        `Action: [${tableActions({}).join(', ')}]`,
      ],
    ],
    [
      'SAM',
      block('yaml', 'AWS::Serverless::Function'),
      ['Timeout: 10', `RETENTION_SECONDS: ${retention}`, `Action: [${tableActions({}).join(', ')}]`],
    ],
    [
      'Terraform',
      block('hcl', 'aws_sqs_queue'),
      [
        `visibility_timeout_seconds = ${queue.VisibilityTimeout}`,
        `message_retention_seconds  = ${queue.MessageRetentionPeriod}`,
        `message_retention_seconds = ${deadLetters.MessageRetentionPeriod}`,
        `maxReceiveCount = ${queue.RedrivePolicy.maxReceiveCount}`,
        `RETENTION_SECONDS = ${retention}`,
        tableActions({})
          .map((action) => `"${action}"`)
          .join(', '),
      ],
    ],
  ])('%s', (_, code, lines) => {
    for (const line of lines) expect(code).toContain(line)
    expect(code).toContain('ReportBatchItemFailures')
  })
})

test('the documented thresholds are the true ones', () => {
  const source = readFileSync(new URL('../../infra/constructs/watch/thresholds.ts', import.meta.url), 'utf8')
  const documented = [...source.matchAll(/@default (.+)\n {3}\*\/\n {2}readonly (\w+)\?/g)].map(([, value, name]) => [
    name,
    value,
  ])
  const actual = Object.entries(ALARM_THRESHOLDS).map(([name, value]) => [
    name,
    value instanceof Duration ? `Duration.minutes(${value.toMinutes()})` : String(value),
  ])
  expect(documented).toEqual(actual)
})
