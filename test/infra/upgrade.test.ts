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
        "ExportsOutputRefIdempotencyTable22A5A209F6C0179A",
        "ExportsOutputFnGetAttOrdersTable315BB997ArnB3A07C42",
        "ExportsOutputRefOrdersTable315BB997F7C1D27E",
      ],
      "resources": {
        "IdempotencyTable22A5A209": "AWS::DynamoDB::GlobalTable",
        "OrdersTable315BB997": "AWS::DynamoDB::GlobalTable",
      },
    }
  `)
})
