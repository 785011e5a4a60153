import { RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib'
import { AttributeType, Billing, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import type { Construct } from 'constructs'
import { IdempotencyTable } from '../constructs/index.ts'

/** Properties of {@link IdempotencyDataStack}. */
export interface IdempotencyDataStackProps extends StackProps {
  /** What becomes of the tables when they leave the stack: losing either means charging somebody twice. */
  readonly removalPolicy: RemovalPolicy
  /** Whether a table can be deleted at all. */
  readonly deletionProtection: boolean
}

/** What outlives every version of the service: the idempotency table and the orders. */
export class IdempotencyDataStack extends Stack {
  readonly idempotencyTable: IdempotencyTable
  readonly ordersTable: TableV2

  constructor(scope: Construct, id: string, props: IdempotencyDataStackProps) {
    super(scope, id, props)
    const { removalPolicy, deletionProtection } = props
    this.idempotencyTable = new IdempotencyTable(this, 'IdempotencyTable', { removalPolicy, deletionProtection })
    if (removalPolicy === RemovalPolicy.DESTROY) {
      Validations.of(this.idempotencyTable).acknowledge({
        id: 'lambda-once:records-can-be-lost',
        reason: 'A disposable environment: nothing is at stake, and it is to go without a trace.',
      })
    }
    this.ordersTable = new TableV2(this, 'OrdersTable', {
      partitionKey: { name: 'orderId', type: AttributeType.STRING },
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      removalPolicy,
      deletionProtection,
    })
  }
}
