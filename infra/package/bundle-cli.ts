// Makes dist/cli/main.js: the CLI with its own dependencies in it, so that whoever installs the toolkit for a Lambda
// function does not install a command line with it. The AWS SDK stays outside, as everywhere in the package.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { buildPage } from './page.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const OUTPUT = join(ROOT, 'dist/cli')

const { metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: ['lib/cli/main.ts'],
  outfile: join(OUTPUT, 'main.js'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  external: ['@aws-sdk/*'],
  metafile: true,
  // Packages of the CommonJS kind call require for what is built in.
  banner: { js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)" },
})

const page = await buildPage(join(OUTPUT, 'page'))

/** The folder of each package that is in the bundle, or in the page. */
const folders = new Set(
  Object.keys({ ...metafile.inputs, ...page.inputs }).flatMap(
    (path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
  ),
)
const notices = [...folders].sort().map((folder) => {
  const { name, version } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
  const license = readdirSync(join(ROOT, folder)).find((file) => /^licen[cs]e/i.test(file))
  // Their licences ask for it to be passed on: without one the bundle may not be published.
  if (license === undefined) throw new Error(`${name} has no licence file.`)
  return `${name} ${version}\n\n${readFileSync(join(ROOT, folder, license), 'utf8').trim()}\n`
})
writeFileSync(join(OUTPUT, 'LICENSES.txt'), notices.join(`\n${'-'.repeat(78)}\n\n`))
