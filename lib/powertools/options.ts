import { createHash } from 'node:crypto'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { systemClock } from '../base/clock.ts'
import { InvalidOptionError } from '../base/errors.ts'
import { functionOption, refuseUnknown, secondsOption, show } from '../base/guards.ts'
import type { Clock } from '../base/ports.ts'
import { FIRST_NAMES, type Names } from './item.ts'

/** Options of {@link powertoolsRecords}: what the function had in Powertools, under the names it had there. */
export interface PowertoolsRecordsOptions<P> {
  /** The table of `DynamoDBPersistenceLayer`. */
  readonly tableName: string
  /**
   * What `eventKeyJmesPath` selected, as a function: `(event) => event.orderId`. What the path did not find is `null`
   * there. Answers `undefined` or `null` for what Powertools did not protect.
   * @defaultValue the payload as a whole, as without `eventKeyJmesPath`
   */
  readonly key?: (payload: P) => unknown
  /**
   * What `payloadValidationJmesPath` selected, as a function.
   * @defaultValue nothing is validated
   */
  readonly validation?: (payload: P) => unknown
  /**
   * What the ids begin with: `keyPrefix`, or the name of the function that wrote them.
   * @defaultValue `AWS_LAMBDA_FUNCTION_NAME`
   */
  readonly keyPrefix?: string
  /** A hash function of `node:crypto`. @defaultValue `'md5'`, as in Powertools */
  readonly hashFunction?: string
  /** How long the other version's records protect, in seconds. @defaultValue 3,600, as in Powertools */
  readonly expiresAfterSeconds?: number
  /** @defaultValue `'id'` */
  readonly keyAttr?: string
  /** Only for a table with a sort key. */
  readonly sortKeyAttr?: string
  /** The partition key of all records, with `sortKeyAttr`. @defaultValue `idempotency#` and the function's name */
  readonly staticPkValue?: string
  /** @defaultValue `'status'` */
  readonly statusAttr?: string
  /** @defaultValue `'expiration'` */
  readonly expiryAttr?: string
  /** @defaultValue `'in_progress_expiration'` */
  readonly inProgressExpiryAttr?: string
  /** @defaultValue `'data'` */
  readonly dataAttr?: string
  /** @defaultValue `'validation'` */
  readonly validationKeyAttr?: string
  /** @defaultValue a client of its own, as with `dynamoStore` */
  readonly client?: DynamoDBClient
  /** @defaultValue the system's clock */
  readonly clock?: Pick<Clock, 'now'>
}

/** Checked options. */
export interface Settings<P> {
  readonly tableName: string
  readonly client: DynamoDBClient | undefined
  readonly clock: Pick<Clock, 'now'>
  readonly key: (payload: P) => unknown
  readonly validation: ((payload: P) => unknown) | undefined
  readonly keyPrefix: string
  readonly hashFunction: string
  readonly expiresAfterSeconds: number
  readonly names: Names
  /** Absent: the table has no sort key. */
  readonly partition: string | undefined
}

const OPTIONS = [
  'tableName',
  'key',
  'validation',
  'keyPrefix',
  'hashFunction',
  'expiresAfterSeconds',
  'keyAttr',
  'sortKeyAttr',
  'staticPkValue',
  'statusAttr',
  'expiryAttr',
  'inProgressExpiryAttr',
  'dataAttr',
  'validationKeyAttr',
  'client',
  'clock',
] as const satisfies readonly (keyof PowertoolsRecordsOptions<unknown>)[]

const DEFAULT_EXPIRY_SECONDS = 3_600

/** @throws InvalidOptionError naming the option, what was expected and what came */
export function resolveOptions<P>(options: PowertoolsRecordsOptions<P>): Settings<P> {
  refuseUnknown('powertoolsRecords', options, OPTIONS)
  const { client, clock = systemClock, key, validation, hashFunction = 'md5', sortKeyAttr, staticPkValue } = options
  if (client !== undefined && typeof client.send !== 'function') {
    throw new InvalidOptionError(`client must be a DynamoDBClient; got ${show(client)}.`)
  }
  if (typeof clock.now !== 'function') throw new InvalidOptionError(`clock must have now(); got ${show(clock)}.`)
  refuseUnknownHash(hashFunction)
  const functionName = process.env.AWS_LAMBDA_FUNCTION_NAME ?? ''
  const names: Names = {
    key: text('keyAttr', options.keyAttr) ?? FIRST_NAMES.key,
    status: text('statusAttr', options.statusAttr) ?? FIRST_NAMES.status,
    expiry: text('expiryAttr', options.expiryAttr) ?? FIRST_NAMES.expiry,
    inProgressExpiry: text('inProgressExpiryAttr', options.inProgressExpiryAttr) ?? FIRST_NAMES.inProgressExpiry,
    data: text('dataAttr', options.dataAttr) ?? FIRST_NAMES.data,
    validation: text('validationKeyAttr', options.validationKeyAttr) ?? FIRST_NAMES.validation,
    ...(text('sortKeyAttr', sortKeyAttr) !== undefined && { sortKey: sortKeyAttr }),
  }
  const partition = text('staticPkValue', staticPkValue) ?? `idempotency#${functionName}`
  return {
    tableName: requiredTable(options.tableName),
    client,
    clock,
    key: functionOption('key', key) ?? ((payload) => payload),
    validation: functionOption('validation', validation),
    keyPrefix: keyPrefixOf(text('keyPrefix', options.keyPrefix), functionName),
    hashFunction,
    expiresAfterSeconds: secondsOption('expiresAfterSeconds', options.expiresAfterSeconds, 1) ?? DEFAULT_EXPIRY_SECONDS,
    names,
    partition: names.sortKey === undefined ? undefined : partition,
  }
}

function requiredTable(tableName: unknown): string {
  const name = text('tableName', tableName)
  if (name !== undefined) return name
  throw new InvalidOptionError(
    'tableName must be the name or ARN of the table that Powertools writes to; got undefined.',
  )
}

function refuseUnknownHash(hashFunction: unknown): void {
  try {
    createHash(String(hashFunction))
  } catch {
    throw new InvalidOptionError(`hashFunction must be one of node:crypto, such as "md5"; got ${show(hashFunction)}.`)
  }
}

/** Powertools takes white space for no prefix, and cuts it off. */
function keyPrefixOf(given: string | undefined, functionName: string): string {
  const prefix = given?.trim() || functionName
  if (prefix !== '') return prefix
  throw new InvalidOptionError(
    'keyPrefix must be what the ids in the table begin with, as a rule the function’s name; got none, and AWS_LAMBDA_FUNCTION_NAME is not set.',
  )
}

function text(name: string, value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value
  throw new InvalidOptionError(`${name} must be a text that is not empty; got ${show(value)}.`)
}
