import { RemovalPolicy } from 'aws-cdk-lib'
import {
  AttributeType,
  Billing,
  type GlobalSecondaryIndexPropsV2,
  ProjectionType,
  type ReplicaTableProps,
  StreamViewType,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { Construct } from 'constructs'
import {
  INDEX_ATTRIBUTES,
  INDEX_NAME,
  INDEX_PARTITION_KEY,
  INDEX_SORT_KEY,
  PARTITION_KEY,
  SORT_KEY,
  TTL_ATTRIBUTE,
} from '../../../lib/dynamodb/table-shape.ts'

interface NewTableProps {
  readonly stream?: boolean
  readonly reconcilerIndex: boolean
  readonly encryptionKey?: IKey
  readonly removalPolicy?: RemovalPolicy
  readonly deletionProtection?: boolean
  readonly pointInTimeRecovery?: boolean
  readonly replicas?: ReplicaTableProps[]
}

const DUE_INDEX = {
  indexName: INDEX_NAME,
  partitionKey: { name: INDEX_PARTITION_KEY, type: AttributeType.STRING },
  sortKey: { name: INDEX_SORT_KEY, type: AttributeType.NUMBER },
  projectionType: ProjectionType.INCLUDE,
  nonKeyAttributes: [...INDEX_ATTRIBUTES],
} satisfies GlobalSecondaryIndexPropsV2

/** A table as the store expects it, without a fixed name. `Default` keeps its logical id that of the construct. */
export function newTable(scope: Construct, props: NewTableProps): TableV2 {
  return new TableV2(scope, 'Default', {
    partitionKey: { name: PARTITION_KEY, type: AttributeType.STRING },
    sortKey: { name: SORT_KEY, type: AttributeType.STRING },
    timeToLiveAttribute: TTL_ATTRIBUTE,
    // Claims come in bursts, and a throttled claim is a request that fails.
    billing: Billing.onDemand(),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: props.pointInTimeRecovery ?? true },
    deletionProtection: props.deletionProtection ?? true,
    removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN,
    ...(props.replicas && { replicas: props.replicas }),
    // A relay reads the message as it was written.
    ...(props.stream && {
      dynamoStream: props.replicas ? StreamViewType.NEW_AND_OLD_IMAGES : StreamViewType.NEW_IMAGE,
    }),
    ...(props.reconcilerIndex && { globalSecondaryIndexes: [DUE_INDEX] }),
    ...(props.encryptionKey && { encryption: TableEncryptionV2.customerManagedKey(props.encryptionKey) }),
  })
}
