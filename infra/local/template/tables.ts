import type { CreateTableCommandInput, StreamViewType } from '@aws-sdk/client-dynamodb'
import type { Resource } from './assembly.ts'
import type { LocalTable } from './model.ts'
import { asArray, asObject, asOptionalString, asString, type JsonObject, UnsupportedTemplateError } from './narrow.ts'
import { identify, type LocalPlace, mappedProperties, type Resolve } from './resolve.ts'

const MAPPED = [
  'TableName',
  'AttributeDefinitions',
  'KeySchema',
  'BillingMode',
  'GlobalSecondaryIndexes',
  'LocalSecondaryIndexes',
  'StreamSpecification',
  'TimeToLiveSpecification',
]
// Durability, cost and access: nothing a running function could tell.
const HARMLESS = [
  'ContributorInsightsSpecification',
  'DeletionProtectionEnabled',
  'PointInTimeRecoverySpecification',
  'Replicas',
  'SSESpecification',
  'TableClass',
  'Tags',
]

/** Maps a table of the template. @throws UnsupportedTemplateError. */
export function mapTable(resource: Resource, resolve: Resolve, place: LocalPlace): LocalTable {
  const where = `${resource.stack}/${resource.logicalId}`
  const properties = mappedProperties(resource, resolve, MAPPED, HARMLESS)
  if (properties.BillingMode !== 'PAY_PER_REQUEST') {
    throw new UnsupportedTemplateError(`${where}: only BillingMode PAY_PER_REQUEST; DynamoDB Local never throttles`)
  }
  if (asArray(resource.properties.Replicas ?? [], where).length > 1) {
    throw new UnsupportedTemplateError(`${where}: a table with replicas in other regions cannot be run locally`)
  }
  const { name, attributes } = identify(resource, place)
  const stream = optionalObject(properties.StreamSpecification, where)
  const ttl = optionalObject(properties.TimeToLiveSpecification, where)
  const creation = {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: properties.AttributeDefinitions,
    KeySchema: properties.KeySchema,
    GlobalSecondaryIndexes: indexes(properties.GlobalSecondaryIndexes, where),
    LocalSecondaryIndexes: indexes(properties.LocalSecondaryIndexes, where),
    StreamSpecification: stream && {
      StreamEnabled: true,
      StreamViewType: asString(stream.StreamViewType, where) as StreamViewType,
    },
  }
  return {
    logicalId: resource.logicalId,
    name,
    // Attribute definitions, key schemas and projections have one shape in CloudFormation and in the API.
    creation: creation as CreateTableCommandInput,
    streamArn: attributes.StreamArn,
    ttlAttribute: ttl && ttl.Enabled !== false ? asOptionalString(ttl.AttributeName, where) : undefined,
  }
}

function indexes(value: unknown, where: string): unknown[] | undefined {
  if (value === undefined) return undefined
  return asArray(value, where).map((raw) => {
    const { IndexName, KeySchema, Projection } = asObject(raw, where)
    return { IndexName, KeySchema, Projection }
  })
}

function optionalObject(value: unknown, where: string): JsonObject | undefined {
  return value === undefined ? undefined : asObject(value, where)
}
