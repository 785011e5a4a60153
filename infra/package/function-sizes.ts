import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The bundle of one function, as it is uploaded. */
export interface FunctionSize {
  /** Of its stack and construct. */
  readonly name: string
  readonly bytes: number
  /** Beside it, loaded only when an error is thrown. */
  readonly sourceMapBytes: number
  /** Packages that it takes from Lambda's runtime when it needs them. */
  readonly external: readonly string[]
}

/** What a cold start has to read at most: half of it is the SDK. */
export const MOST_BYTES = 600_000

/** What CDK puts behind a logical id. */
const HASH = /[0-9A-F]{8}$/

/**
 * The bundles of all functions in a cloud assembly, largest first.
 *
 * @throws Error when there is none: `npm run synth` makes it
 */
export function functionSizes(assembly: string): readonly FunctionSize[] {
  const { artifacts } = readJson(join(assembly, 'manifest.json'))
  return Object.entries<Json>(artifacts)
    .filter(([, { type }]) => type === 'aws:cloudformation:stack')
    .flatMap(([stack, { properties }]) =>
      Object.entries<Json>(readJson(join(assembly, properties.templateFile)).Resources)
        .filter(([, { Type }]) => Type === 'AWS::Lambda::Function')
        .map(([id, { Properties }]) => sizeOf(`${stack}/${id.replace(HASH, '')}`, assembly, Properties)),
    )
    .toSorted((one, other) => other.bytes - one.bytes)
}

function sizeOf(name: string, assembly: string, { Code, Handler }: Json): FunctionSize {
  const directory = join(assembly, `asset.${String(Code.S3Key).replace('.zip', '')}`)
  const file = join(directory, `${String(Handler).split('.')[0]}.mjs`)
  const code = readFileSync(file, 'utf8')
  const imported = [...code.matchAll(/\bimport\s*\(\s*"(@aws-sdk\/[^"]+)"\s*\)/g)].map(
    ([, specifier = '']) => specifier,
  )
  return {
    name,
    bytes: statSync(file).size,
    sourceMapBytes: statSync(`${file}.map`).size,
    external: [...new Set(imported)].sort(),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what CDK has written is JSON, and each line names the path it reads.
type Json = any

function readJson(path: string): Json {
  return JSON.parse(readFileSync(path, 'utf8'))
}
