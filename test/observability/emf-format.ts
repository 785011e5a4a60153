import { Ajv } from 'ajv'

const NAME = { type: 'string', minLength: 1, maxLength: 1024, pattern: '\\S' }
/** What CloudWatch takes for the name of a dimension. */
const DIMENSION = { type: 'string', minLength: 1, maxLength: 250, pattern: '^[^:][\\x20-\\x7e]*$' }

/** The embedded metric format as its specification describes it: the root, the metadata, directives and definitions. */
const SCHEMA = {
  type: 'object',
  required: ['_aws'],
  properties: {
    _aws: {
      type: 'object',
      required: ['Timestamp', 'CloudWatchMetrics'],
      additionalProperties: false,
      properties: {
        Timestamp: { type: 'integer', minimum: 0 },
        CloudWatchMetrics: {
          type: 'array',
          minItems: 1,
          items: {
            type: 'object',
            required: ['Namespace', 'Dimensions', 'Metrics'],
            additionalProperties: false,
            properties: {
              Namespace: { ...NAME, maxLength: 255, not: { pattern: '^AWS/' } },
              Dimensions: {
                type: 'array',
                minItems: 1,
                items: { type: 'array', minItems: 1, maxItems: 30, uniqueItems: true, items: DIMENSION },
              },
              Metrics: {
                type: 'array',
                minItems: 1,
                maxItems: 100,
                items: {
                  type: 'object',
                  required: ['Name'],
                  additionalProperties: false,
                  properties: {
                    Name: NAME,
                    Unit: { enum: ['Seconds', 'Microseconds', 'Milliseconds', 'Bytes', 'Count', 'Percent', 'None'] },
                    StorageResolution: { enum: [1, 60] },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
}

const validate = new Ajv({ allErrors: true, strict: true }).compile(SCHEMA)

/** CloudWatch's older limit for one log event, in bytes; today's is higher. */
const MAX_BYTES = 256 * 1024

/** One line, as CloudWatch reads it. */
export interface EmfDocument {
  readonly _aws: {
    readonly Timestamp: number
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string
      readonly Dimensions: readonly (readonly string[])[]
      readonly Metrics: readonly { readonly Name: string; readonly Unit?: string }[]
    }[]
  }
  readonly [member: string]: unknown
}

/** Reads a line as CloudWatch does; throws where that would make no metric of it. */
export function readEmf(line: string): EmfDocument {
  if (/[\r\n]/.test(line)) throw new Error(`A line break makes two log events of it: ${line}`)
  if (Buffer.byteLength(line) > MAX_BYTES) throw new Error('It is larger than a log event may be.')
  const document: unknown = JSON.parse(line)
  if (!validate(document)) throw new Error(`${JSON.stringify(validate.errors)} in ${line}`)
  const read = document as EmfDocument
  for (const { Dimensions, Metrics } of read._aws.CloudWatchMetrics) {
    for (const name of Dimensions.flat()) {
      const value = read[name]
      if (typeof value !== 'string' || value === '' || value.length > 1024)
        throw new Error(`The dimension ${name} has no text as its target member: ${line}`)
    }
    for (const { Name } of Metrics) {
      const values = [read[Name]].flat()
      if (values.length > 100 || !values.every((value) => typeof value === 'number' && Number.isFinite(value)))
        throw new Error(`The metric ${Name} has no numbers as its target member: ${line}`)
    }
  }
  return read
}
