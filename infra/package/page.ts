import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Metafile } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SOURCE = 'lib/cli/page'

/** Makes the console's page: three files that need nothing from elsewhere. Answers what went into them. */
export async function buildPage(directory: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [`${SOURCE}/console.ts`, `${SOURCE}/console.css`],
    outdir: directory,
    bundle: true,
    format: 'esm',
    // What has light-dark() and an EventSource that tells of nothing unknown: the browsers of the last two years.
    target: ['chrome123', 'firefox128', 'safari18'],
    minify: true,
    metafile: true,
    logLevel: 'error',
  })
  copyFileSync(join(ROOT, SOURCE, 'index.html'), join(directory, 'index.html'))
  return metafile
}
