import { readFileSync } from 'node:fs'
import { Duration } from 'aws-cdk-lib'
import { describe, expect, test } from 'vitest'
import {
  ALARM_THRESHOLDS,
  IdempotencyTable,
  IdempotentFunction,
  IdempotentQueue,
} from '../../infra/constructs/index.ts'
import {
  GROUP_COMMIT_ACTIONS,
  OPERATOR_WRITE_ACTIONS,
  RELAY_ACTIONS,
  tableActions,
} from '../../infra/constructs/table/grants.ts'
import { ALL_CHECKS } from '../../lib/checks/all.ts'
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

test.each([
  ['grantIdempotency', tableActions({})],
  ['… with `groupCommit`', GROUP_COMMIT_ACTIONS],
  ['… with `receipts`', tableActions({ receipts: true }).slice(tableActions({}).length)],
  ['… with `reconciler`', tableActions({ reconciler: true }).slice(tableActions({}).length)],
  ['every `OutboxRelay`', RELAY_ACTIONS],
  ['grantOperate', OPERATOR_WRITE_ACTIONS],
])('the guide names the actions of %s, and no other', (granted, actions) => {
  const row = guide.split('\n').find((line) => line.startsWith(`| ${granted}`) || line.startsWith(`| \`${granted}`))
  const named = [...(row?.split('|')[3] ?? '').matchAll(/`(\w+)`/g)].map(([, action]) => `dynamodb:${action}`)
  expect(named).toEqual([...actions])
})

describe('the templates without CDK have the numbers that the constructs compute for a timeout of 10 seconds', () => {
  const stack = newStack()
  const table = new IdempotencyTable(stack, 'Table')
  const consumer = new IdempotentFunction(stack, 'Worker', { entry: ENTRY, table, timeout: Duration.seconds(10) })
  new IdempotentQueue(stack, 'Payments', { consumer })
  const queue = only(stack, 'AWS::SQS::Queue', /^Payments[0-9A-F]{8}$/).properties
  const deadLetters = only(stack, 'AWS::SQS::Queue', /^PaymentsDeadLetters/).properties
  const mapping = only(stack, 'AWS::Lambda::EventSourceMapping').properties
  const created = only(stack, 'AWS::DynamoDB::GlobalTable').properties
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
        `Action: [${tableActions({ groupCommit: true }).join(', ')}]`,
      ],
    ],
    [
      'SAM',
      block('yaml', 'AWS::Serverless::Function'),
      ['Timeout: 10', `RETENTION_SECONDS: ${retention}`, `Action: [${tableActions({ groupCommit: true }).join(', ')}]`],
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
        tableActions({ groupCommit: true })
          .map((action) => `"${action}"`)
          .join(', '),
      ],
    ],
  ])('%s', (_, code, lines) => {
    for (const line of lines) expect(code).toContain(line)
    expect(code).toContain('ReportBatchItemFailures')
    expect(code).toMatch(new RegExp(`(BatchSize:|batch_size +=) ${mapping.BatchSize}\\b`))
  })

  test('and CloudFormation the fields of the table, in words of its resource for one region', () => {
    const code = block('yaml', 'AWS::DynamoDB::Table')
    for (const { AttributeName, KeyType } of created.KeySchema) {
      expect(code).toContain(`- { AttributeName: ${AttributeName}, KeyType: ${KeyType} }`)
    }
    for (const { AttributeName, AttributeType } of created.AttributeDefinitions) {
      expect(code).toContain(`- { AttributeName: ${AttributeName}, AttributeType: ${AttributeType} }`)
    }
    const { AttributeName, Enabled } = created.TimeToLiveSpecification
    const [replica] = created.Replicas
    const recovers = replica.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled
    for (const line of [
      `BillingMode: ${created.BillingMode}`,
      `DeletionProtectionEnabled: ${replica.DeletionProtectionEnabled}`,
      `PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: ${recovers} }`,
      `TimeToLiveSpecification: { AttributeName: ${AttributeName}, Enabled: ${Enabled} }`,
      'DeletionPolicy: Retain',
      'UpdateReplacePolicy: Retain',
    ]) {
      expect(code).toContain(line)
    }
  })

  test('and Terraform', () => {
    const code = block('hcl', 'aws_dynamodb_table').replaceAll(/ +/g, ' ')
    const [hash, range] = created.KeySchema
    for (const line of [
      `billing_mode = "${created.BillingMode}"`,
      `hash_key = "${hash.AttributeName}"`,
      `range_key = "${range.AttributeName}"`,
      `deletion_protection_enabled = ${created.Replicas[0].DeletionProtectionEnabled}`,
      `attribute_name = "${created.TimeToLiveSpecification.AttributeName}"`,
      'point_in_time_recovery { enabled = true }',
      'prevent_destroy = true',
    ]) {
      expect(code).toContain(line)
    }
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
