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

/** What outlives every version of the service: the idempotency table, the orders and the books. */
export class IdempotencyDataStack extends Stack {
  readonly idempotencyTable: IdempotencyTable
  readonly ordersTable: TableV2
  /** One entry for each payment, counted for each account. */
  readonly ledgerTable: TableV2
  /** What each account has paid, made of the ledger. */
  readonly balancesTable: TableV2

  constructor(scope: Construct, id: string, props: IdempotencyDataStackProps) {
    super(scope, id, props)
    const { removalPolicy, deletionProtection } = props
    this.idempotencyTable = new IdempotencyTable(this, 'IdempotencyTable', {
      stream: true,
      reconcilerIndex: true,
      removalPolicy,
      deletionProtection,
    })
    if (removalPolicy === RemovalPolicy.DESTROY) {
      Validations.of(this.idempotencyTable).acknowledge({
        id: 'lambda-once:records-can-be-lost',
        reason: 'A disposable environment: nothing is at stake, and it is to go without a trace.',
      })
    }
    const kept = {
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      removalPolicy,
      deletionProtection,
    }
    const account = { name: 'account', type: AttributeType.STRING }
    this.ordersTable = new TableV2(this, 'OrdersTable', {
      ...kept,
      partitionKey: { name: 'orderId', type: AttributeType.STRING },
    })
    this.ledgerTable = new TableV2(this, 'LedgerTable', {
      ...kept,
      partitionKey: account,
      sortKey: { name: 'sequence', type: AttributeType.NUMBER },
    })
    this.balancesTable = new TableV2(this, 'BalancesTable', { ...kept, partitionKey: account })
  }
}
