import type { Context } from 'aws-lambda'
import { InvalidOptionError } from '../base/errors.ts'
import {
  booleanOption,
  functionOption,
  integerOption,
  oneOf,
  refuseUnknown,
  secondsOption,
  show,
} from '../base/guards.ts'
import type { StandardSchema } from '../base/schema.ts'
import type { Engine } from '../engine/engine.ts'
import { engineOf } from '../idempotency/idempotency.ts'
import { type KeyInput, normalizeScope, type Scope } from '../record/identity.ts'
import {
  BATCH_DEFAULTS,
  type BatchRecord,
  type IdempotentBatchOptions,
  type RecordFailure,
  type RecordHandler,
} from './options.ts'
import type { RedriveOption, Source } from './sources/source.ts'
import { sqs } from './sources/sqs.ts'

/** Options after validation, with every default filled in. */
export interface BatchSettings<B, R> {
  readonly engine: Engine
  readonly source: Source<R>
  readonly key: ((record: BatchRecord<B, R>, context: Context) => KeyInput) | undefined
  readonly scope: Scope | ((record: BatchRecord<B, R>, context: Context) => Scope) | undefined
  readonly fingerprint: false | ((record: BatchRecord<B, R>) => unknown) | undefined
  readonly parse: (text: string, record: R) => unknown
  readonly schema: StandardSchema<B> | undefined
  readonly poison: 'fail' | 'ack'
  readonly concurrency: number
  readonly groupCommit: boolean
  readonly fifo: 'group' | 'batch'
  readonly deadlineMarginMs: number
  readonly redrive: RedriveOption | undefined
  readonly changeVisibility: ((record: R, seconds: number) => PromiseLike<unknown>) | undefined
  readonly onFailure: (failure: RecordFailure<R>) => unknown
}

/** Lambda's largest batch: 10 000 messages of a standard queue. */
const MAX_CONCURRENCY = 10_000

/** @throws InvalidOptionError naming the option, what was expected and what came. */
export function resolveBatchOptions<B, R>(of: string, options: IdempotentBatchOptions<B, R>): BatchSettings<B, R> {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidOptionError(`${of} expects an options object; got ${show(options)}.`)
  }
  refuseUnknown(of, options, OPTION_NAMES)
  const { scope, schema, fingerprint } = options
  if (schema !== undefined && typeof schema?.['~standard']?.validate !== 'function') {
    throw new InvalidOptionError(
      `schema must follow Standard Schema, as those of Valibot and Zod do; got ${show(schema)}.`,
    )
  }
  if (scope !== undefined && typeof scope !== 'function' && normalizeScope(scope).every((part) => part === '')) {
    throw new InvalidOptionError(`scope must name who asks; got ${show(scope)}.`)
  }
  const source = sourceOption(options.source)
  if (source.queue === undefined) refuseQueueOptions(source, options)
  const marginSeconds = secondsOption('deadlineMarginSeconds', options.deadlineMarginSeconds, 0)
  return Object.freeze({
    engine: engineOf(options.idempotency),
    source,
    key: functionOption('key', options.key),
    scope,
    fingerprint: fingerprint === false ? false : functionOption('fingerprint', fingerprint),
    parse: functionOption('parse', options.parse) ?? source.parse,
    schema,
    poison: oneOf('poison', options.poison, ['fail', 'ack']) ?? BATCH_DEFAULTS.poison,
    concurrency: integerOption('concurrency', options.concurrency, 1, MAX_CONCURRENCY) ?? BATCH_DEFAULTS.concurrency,
    groupCommit: booleanOption('groupCommit', options.groupCommit) ?? BATCH_DEFAULTS.groupCommit,
    fifo: oneOf('fifo', options.fifo, ['group', 'batch']) ?? BATCH_DEFAULTS.fifo,
    deadlineMarginMs: (marginSeconds ?? BATCH_DEFAULTS.deadlineMarginSeconds) * 1000,
    redrive: redriveOption(options.redrive),
    changeVisibility: functionOption('changeVisibility', options.changeVisibility),
    onFailure: functionOption('onFailure', options.onFailure) ?? writeError,
  })
}

const OPTION_NAMES: readonly string[] = [
  'idempotency',
  'source',
  'key',
  'scope',
  'fingerprint',
  'parse',
  'schema',
  'poison',
  'concurrency',
  'groupCommit',
  'fifo',
  'deadlineMarginSeconds',
  'redrive',
  'changeVisibility',
  'onFailure',
]

function sourceOption<R>(source: Source<R> | undefined): Source<R> {
  // Where no source is named, R is the type of a queue's record: the options' types say so.
  if (source === undefined) return sqs() as unknown as Source<R>
  if (typeof source?.records === 'function' && typeof source.report === 'function') return source
  throw new InvalidOptionError(`source must be sqs(), kinesis(), dynamoStream() or kafka(); got ${show(source)}.`)
}

const QUEUE_OPTIONS = ['fifo', 'redrive', 'changeVisibility'] as const

function refuseQueueOptions<B, R>({ name }: Source<R>, options: IdempotentBatchOptions<B, R>): void {
  const given = QUEUE_OPTIONS.find((option) => options[option] !== undefined)
  if (given !== undefined)
    throw new InvalidOptionError(`${given} is for queues, and the source is ${name}. Leave it out.`)
}

function redriveOption(redrive: RedriveOption | undefined): RedriveOption | undefined {
  if (redrive === undefined) return undefined
  // An ARN parses as a URL, too.
  if (typeof redrive?.queueUrl !== 'string' || !/^https?:$/.test(URL.parse(redrive.queueUrl)?.protocol ?? '')) {
    throw new InvalidOptionError(
      `redrive must be { queueUrl }, the URL of the queue the messages come from; got ${show(redrive)}.`,
    )
  }
  refuseUnknown('redrive', redrive, ['queueUrl', 'allowReorder'])
  booleanOption('redrive.allowReorder', redrive.allowReorder)
  return redrive
}

/** @throws InvalidOptionError when what is to be done with one record is no function. */
export function recordHandler<B, R>(of: string, handle: RecordHandler<B, R>): RecordHandler<B, R> {
  if (typeof handle === 'function') return handle
  throw new InvalidOptionError(`${of}: handle must be a function; got ${show(handle)}.`)
}

function writeError({ why, error }: Pick<RecordFailure, 'why' | 'error'>): void {
  if (error !== undefined) console.error(`lambda-once: a record of the batch failed (${why}).`, error)
}
