import { expect, test } from 'vitest'
import { resourcesOf, synthesize } from './templates.ts'

const { data, payments } = synthesize()

/**
 * CloudFormation replaces a resource whose logical id changes: a new, empty table, and everything that comes again is
 * done again. Nor may an export go while the other stack still imports it. A change here needs a way to move the data.
 */
test('the stateful stack keeps its logical ids', () => {
  const { Resources, Outputs } = data.toJSON()
  const kinds = Object.entries(Resources).map(([id, resource]) => [id, Reflect.get(Object(resource), 'Type')])
  expect({ resources: Object.fromEntries(kinds), outputs: Object.keys(Outputs) }).toMatchInlineSnapshot(`
    {
      "outputs": [
        "ExportsOutputFnGetAttIdempotencyTable22A5A209Arn796E3A97",
        "ExportsOutputFnGetAttBalancesTableFE6BA84DArn24402A6F",
        "ExportsOutputRefIdempotencyTable22A5A209F6C0179A",
        "ExportsOutputRefBalancesTableFE6BA84D4060446E",
        "ExportsOutputFnGetAttOrdersTable315BB997ArnB3A07C42",
        "ExportsOutputFnGetAttLedgerTable38A58B60ArnA55745FD",
        "ExportsOutputRefOrdersTable315BB997F7C1D27E",
        "ExportsOutputRefLedgerTable38A58B60D1C7B5DE",
        "ExportsOutputFnGetAttIdempotencyTable22A5A209StreamArn2F5B7D27",
      ],
      "resources": {
        "BalancesTableFE6BA84D": "AWS::DynamoDB::GlobalTable",
        "IdempotencyTable22A5A209": "AWS::DynamoDB::GlobalTable",
        "LedgerTable38A58B60": "AWS::DynamoDB::GlobalTable",
        "OrdersTable315BB997": "AWS::DynamoDB::GlobalTable",
      },
    }
  `)
})

/** In a queue that is replaced lies what was sent to the old one. */
test('the queues keep their logical ids', () => {
  expect(resourcesOf(payments, 'AWS::SQS::Queue').map(([id]) => id)).toMatchInlineSnapshot(`
    [
      "PaidOrdersDeadLetters3F50641D",
      "PaidOrders77DAEA65",
      "PaymentsDeadLetters5E5F225C",
      "Payments130453D3",
      "OutboxRelayDeadLetters34650F60",
    ]
  `)
})

/**
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-globaltable.html
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-sqs-queue.html
 */
const REPLACES = {
  'AWS::DynamoDB::GlobalTable': ['KeySchema', 'LocalSecondaryIndexes', 'TableName'],
  'AWS::SQS::Queue': ['FifoQueue', 'QueueName'],
}

test('nothing that holds data is replaced by another value of one of its properties', () => {
  const held = [data, payments].flatMap((template) =>
    Object.entries(REPLACES).flatMap(([type, names]) =>
      resourcesOf(template, type).map(([id, { Properties }]) => [
        id.replace(/[0-9A-F]{8}$/, ''),
        names
          .flatMap((name) => (name in Properties ? [`${name}: ${JSON.stringify(Properties[name])}`] : []))
          .join(', '),
      ]),
    ),
  )
  expect(Object.fromEntries(held)).toMatchInlineSnapshot(`
    {
      "BalancesTable": "KeySchema: [{"AttributeName":"account","KeyType":"HASH"}]",
      "IdempotencyTable": "KeySchema: [{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]",
      "LedgerTable": "KeySchema: [{"AttributeName":"account","KeyType":"HASH"},{"AttributeName":"sequence","KeyType":"RANGE"}]",
      "OrdersTable": "KeySchema: [{"AttributeName":"orderId","KeyType":"HASH"}]",
      "OutboxRelayDeadLetters": "",
      "PaidOrders": "FifoQueue: true",
      "PaidOrdersDeadLetters": "FifoQueue: true",
      "Payments": "",
      "PaymentsDeadLetters": "",
    }
  `)
})
