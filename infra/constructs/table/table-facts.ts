import { CfnDeletionPolicy, type CfnResource } from 'aws-cdk-lib'
import { CfnGlobalTable, CfnTable, type ITableV2 } from 'aws-cdk-lib/aws-dynamodb'
import type { TableFacts, TableIndex } from '../../../lib/checks/table-checks.ts'
import { field, resolved, resolvedList, resourceOf } from '../read/template-resource.ts'

/** What the application says of the table, beyond the template. */
export interface StatedOfTable {
  readonly acknowledgeHomeRegion: boolean
  readonly wantsIndex: boolean
  readonly wantsStream: boolean
}

/** The properties that both kinds of table have under the same names. */
type AnyTable = CfnResource &
  Pick<
    CfnGlobalTable | CfnTable,
    'attributeDefinitions' | 'globalSecondaryIndexes' | 'keySchema' | 'streamSpecification' | 'timeToLiveSpecification'
  >

/** What the template says of a table of this app, a `TableV2` or a `Table`; undefined for an imported one. */
export function tableFacts(table: ITableV2, stated: StatedOfTable): TableFacts | undefined {
  const global = resourceOf<CfnGlobalTable>(table, CfnGlobalTable.CFN_RESOURCE_TYPE_NAME)
  if (global !== undefined) {
    const replicas = resolvedList(global, global.replicas)
    return {
      ...shapeOf(global),
      ...stated,
      ...protectionOf(replicas[0]),
      regions: replicas.length,
      stronglyConsistent: global.multiRegionConsistency === 'STRONG',
    }
  }
  const single = resourceOf<CfnTable>(table, CfnTable.CFN_RESOURCE_TYPE_NAME)
  if (single === undefined) return undefined
  const { deletionProtectionEnabled, pointInTimeRecoverySpecification } = single
  return {
    ...shapeOf(single),
    ...stated,
    ...protectionOf(resolved(single, { deletionProtectionEnabled, pointInTimeRecoverySpecification })),
    regions: 1,
    stronglyConsistent: false,
  }
}

function shapeOf(
  resource: AnyTable,
): Pick<TableFacts, 'keys' | 'ttlAttribute' | 'indexes' | 'stream' | 'deletedWithStack'> {
  const ttl = resolved(resource, resource.timeToLiveSpecification)
  const ttlAttribute = field(ttl, 'enabled') === false ? undefined : field(ttl, 'attributeName')
  const stream = field(resolved(resource, resource.streamSpecification), 'streamViewType')
  const types = new Map(
    resolvedList(resource, resource.attributeDefinitions).map((definition) => [
      field(definition, 'attributeName'),
      field(definition, 'attributeType'),
    ]),
  )
  const keysOf = (schema: unknown): string[] =>
    resolvedList(resource, schema).map((key) => {
      const name = field(key, 'attributeName')
      return `${name} (${types.get(name)})`
    })
  return {
    keys: keysOf(resource.keySchema),
    ...(typeof ttlAttribute === 'string' && { ttlAttribute }),
    ...(typeof stream === 'string' && { stream }),
    indexes: resolvedList(resource, resource.globalSecondaryIndexes).map(
      (index): TableIndex => ({
        name: String(field(index, 'indexName')),
        keys: keysOf(field(index, 'keySchema')),
        ...(field(field(index, 'projection'), 'projectionType') !== 'ALL' && {
          attributes: resolvedList(resource, field(field(index, 'projection'), 'nonKeyAttributes')).map(String),
        }),
      }),
    ),
    deletedWithStack: resource.cfnOptions.deletionPolicy === CfnDeletionPolicy.DELETE,
  }
}

function protectionOf(home: unknown): Pick<TableFacts, 'deletionProtection' | 'pointInTimeRecovery'> {
  const recovery = field(field(home, 'pointInTimeRecoverySpecification'), 'pointInTimeRecoveryEnabled')
  return {
    deletionProtection: field(home, 'deletionProtectionEnabled') === true,
    pointInTimeRecovery: recovery === true,
  }
}
