import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Metafile } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** What of the bundle is looked at. */
export interface BundleSize {
  /** Of the one file that is deployed, in bytes. */
  readonly whole: number
  /** Of what is loaded before the first invocation, when the bundle is split where code is imported later. */
  readonly first: number
}

const OPTIONS = {
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  mainFields: ['module', 'main'],
  absWorkingDir: ROOT,
  metafile: true,
  // Dependencies that are CommonJS ask for Node's own modules.
  banner: { js: `import { createRequire as requireOf } from 'node:module';const require=requireOf(import.meta.url);` },
} satisfies BuildOptions

/** What is left to the runtime where the SDK and Middy are not bundled. */
const GIVEN = ['@aws-sdk/*', '@smithy/*', '@middy/*']

/** Bundles as CDK's NodejsFunction does. */
export async function bundleSize(contents: string): Promise<BundleSize> {
  const stdin = { contents, resolveDir: ROOT, loader: 'ts' as const }
  const whole = await build({ ...OPTIONS, stdin, write: false })
  const split = await build({ ...OPTIONS, stdin, write: false, splitting: true, outdir: 'out' })
  return { whole: whole.outputFiles[0]?.contents.length ?? 0, first: loadedFirst(split.metafile) }
}

/** What a bundle without SDK and Middy is made of: the bytes of each file in it, by its path. */
export async function bundleParts(contents: string): Promise<ReadonlyMap<string, number>> {
  const stdin = { contents, resolveDir: ROOT, loader: 'ts' as const }
  const { metafile } = await build({ ...OPTIONS, stdin, external: GIVEN, write: false })
  const files = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs))
  return new Map(files.map(([path, { bytesInOutput }]) => [path, bytesInOutput]))
}

/** Writes a bundle to where packages can be imported from, with the SDK and Middy in it or without. */
export async function writeBundle(name: string, contents: string, hasSdk: boolean): Promise<string> {
  const directory = `${ROOT}.local/bench`
  await mkdir(directory, { recursive: true })
  const outfile = `${directory}/${name}.mjs`
  await build({
    ...OPTIONS,
    stdin: { contents, resolveDir: ROOT, loader: 'ts' },
    outfile,
    ...(!hasSdk && { external: GIVEN }),
  })
  return outfile
}

/** The entry, and all that it imports at once. */
function loadedFirst({ outputs }: Metafile): number {
  const [entry] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === '<stdin>') ?? []
  const loaded = new Set<string>()
  const load = (path: string): void => {
    if (loaded.has(path)) return
    loaded.add(path)
    for (const { path: next, kind } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && next in outputs) load(next)
    }
  }
  if (entry !== undefined) load(entry)
  return [...loaded].reduce((sum, path) => sum + (outputs[path]?.bytes ?? 0), 0)
}
