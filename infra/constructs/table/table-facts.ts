import { CfnDeletionPolicy } from 'aws-cdk-lib'
import { CfnGlobalTable, type ITableV2 } from 'aws-cdk-lib/aws-dynamodb'
import type { TableFacts } from '../checks/table-checks.ts'
import { field, resolved, resolvedList, resourceOf } from '../read/template-resource.ts'

/** What the application says of the table, beyond the template. */
export interface StatedOfTable {
  readonly acknowledgeHomeRegion: boolean
  readonly wantsIndex: boolean
  readonly wantsStream: boolean
}

/** What the template says of a table of this app; undefined for an imported one. */
export function tableFacts(table: ITableV2, stated: StatedOfTable): TableFacts | undefined {
  const resource = resourceOf<CfnGlobalTable>(table, CfnGlobalTable.CFN_RESOURCE_TYPE_NAME)
  if (resource === undefined) return undefined
  const replicas = resolvedList(resource, resource.replicas)
  const [home] = replicas
  const ttl = resolved(resource, resource.timeToLiveSpecification)
  const recovery = field(field(home, 'pointInTimeRecoverySpecification'), 'pointInTimeRecoveryEnabled')
  const ttlAttribute = field(ttl, 'attributeName')
  const stream = field(resolved(resource, resource.streamSpecification), 'streamViewType')
  return {
    ...stated,
    regions: replicas.length,
    stronglyConsistent: resource.multiRegionConsistency === 'STRONG',
    keys: resolvedList(resource, resource.keySchema).map((key) => String(field(key, 'attributeName'))),
    ...(typeof ttlAttribute === 'string' && { ttlAttribute }),
    ...(typeof stream === 'string' && { stream }),
    indexes: resolvedList(resource, resource.globalSecondaryIndexes).map((index) => String(field(index, 'indexName'))),
    deletedWithStack: resource.cfnOptions.deletionPolicy === CfnDeletionPolicy.DELETE,
    deletionProtection: field(home, 'deletionProtectionEnabled') === true,
    pointInTimeRecovery: recovery === true,
  }
}
