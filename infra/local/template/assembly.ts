import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { asObject, asOptionalString, asString, type JsonObject, UnsupportedTemplateError } from './narrow.ts'

/** One resource of one stack, its properties still full of intrinsics. */
export interface Resource {
  readonly stack: string
  readonly logicalId: string
  readonly type: string
  readonly properties: JsonObject
}

/** The stacks that `cdk synth` wrote, read but not interpreted. */
export interface Assembly {
  readonly resources: readonly Resource[]
  /** The resource of that stack, or undefined. */
  find(stack: string, logicalId: string): Resource | undefined
  /** The default of a stack's parameter, or undefined. */
  parameterDefault(stack: string, name: string): unknown
  /** The value (with the stack it has to be resolved in) that a stack exports under this name. */
  exported(name: string): { readonly stack: string; readonly value: unknown } | undefined
  /** The directory of the file asset with this hash. @throws UnsupportedTemplateError when there is none. */
  assetDirectory(hash: string): string
}

/**
 * Reads a cloud assembly (`cdk.out`).
 *
 * @throws Error when the directory holds none.
 */
export function readAssembly(path: string): Assembly {
  // Functions run in their own code directories: a path relative to ours would mean nothing there.
  const directory = resolve(path)
  const manifestPath = join(directory, 'manifest.json')
  if (!existsSync(manifestPath)) throw new Error(`${directory} holds no cloud assembly: run npm run synth first`)
  const artifacts = asObject(readJson(manifestPath).artifacts, manifestPath)
  const templates = new Map<string, JsonObject>()
  const assets = new Map<string, string>()
  for (const [id, raw] of Object.entries(artifacts)) {
    const artifact = asObject(raw, id)
    const properties = asObject(artifact.properties ?? {}, id)
    if (artifact.type === 'aws:cloudformation:stack') {
      templates.set(id, readJson(join(directory, asString(properties.templateFile, id))))
    }
    if (artifact.type === 'cdk:asset-manifest') {
      const { files } = readJson(join(directory, asString(properties.file, id)))
      for (const [hash, file] of Object.entries(asObject(files ?? {}, id))) {
        const source = asObject(asObject(file, hash).source, hash)
        const asset = asOptionalString(source.path, hash)
        if (asset !== undefined) assets.set(hash, join(directory, asset))
      }
    }
  }
  const resources = [...templates].flatMap(([stack, template]) => stackResources(stack, template))
  const exports = new Map([...templates].flatMap(([stack, template]) => stackExports(stack, template)))
  return Object.freeze({
    resources,
    find: (stack: string, logicalId: string) =>
      resources.find((resource) => resource.stack === stack && resource.logicalId === logicalId),
    parameterDefault: (stack: string, name: string) => {
      const parameter = asObject(templates.get(stack)?.Parameters ?? {}, stack)[name]
      return parameter === undefined ? undefined : asObject(parameter, name).Default
    },
    exported: (name: string) => exports.get(name),
    assetDirectory: (hash: string) => {
      const asset = assets.get(hash)
      if (asset === undefined) throw new UnsupportedTemplateError(`asset ${hash} is not in ${directory}`)
      return asset
    },
  })
}

function stackResources(stack: string, template: JsonObject): Resource[] {
  return Object.entries(asObject(template.Resources ?? {}, stack)).map(([logicalId, raw]) => {
    const where = `${stack}/${logicalId}`
    const resource = asObject(raw, where)
    if (resource.Condition !== undefined) {
      throw new UnsupportedTemplateError(`${where}: conditional resources are not supported by the local runner`)
    }
    const type = asString(resource.Type, where)
    return { stack, logicalId, type, properties: asObject(resource.Properties ?? {}, where) }
  })
}

function stackExports(stack: string, template: JsonObject): [string, { stack: string; value: unknown }][] {
  return Object.entries(asObject(template.Outputs ?? {}, stack)).flatMap(([id, raw]) => {
    const output = asObject(raw, id)
    if (output.Export === undefined) return []
    const name = asObject(output.Export, id).Name
    return typeof name === 'string' ? [[name, { stack, value: output.Value }] as const] : []
  }) as [string, { stack: string; value: unknown }][]
}

function readJson(path: string): JsonObject {
  return asObject(JSON.parse(readFileSync(path, 'utf8')), path)
}
