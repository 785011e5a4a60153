import { expect, test } from 'vitest'
import { synthesize } from './templates.ts'

const { data } = synthesize()

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
