import { RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import { AttributeType, Billing, type TablePropsV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import type { Construct } from 'constructs'
import { TTL_ATTRIBUTE } from '../../lib/index.ts'

/** Losing either table means charging somebody twice, so neither goes with its stack. */
const KEPT = {
  billing: Billing.onDemand(),
  pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
  deletionProtection: true,
  removalPolicy: RemovalPolicy.RETAIN,
} satisfies Partial<TablePropsV2>

/** What outlives every version of the service: the idempotency table and the orders. */
export class IdempotencyDataStack extends Stack {
  readonly idempotencyTable: TableV2
  readonly ordersTable: TableV2

  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props)
    this.idempotencyTable = new TableV2(this, 'IdempotencyTable', {
      ...KEPT,
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      timeToLiveAttribute: TTL_ATTRIBUTE,
    })
    this.ordersTable = new TableV2(this, 'OrdersTable', {
      ...KEPT,
      partitionKey: { name: 'orderId', type: AttributeType.STRING },
    })
  }
}
