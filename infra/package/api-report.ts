// Writes what each entry point exports, with its types, to docs/api: reviewed like code, since it is what users build on.
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CompilerState, Extractor, ExtractorConfig, type ExtractorMessage } from '@microsoft/api-extractor'
import { packageEntries, ROOT } from './entries.ts'

/** Where the reports are kept. */
export const REPORTS: string = join(ROOT, 'docs/api')

/** A type that an entry's signatures name and the entry does not export. */
export interface ForgottenExport {
  readonly entry: string
  readonly symbol: string
}

/**
 * Writes one report for each entry of the built package.
 *
 * @param folder - where to; what is there of entries that are no more is removed
 * @returns what signatures name without exporting it
 */
export function writeReports(folder: string): readonly ForgottenExport[] {
  const entries = packageEntries()
  mkdirSync(folder, { recursive: true })
  for (const file of readdirSync(folder)) {
    if (!entries.some(({ name }) => file === reportFile(name))) rmSync(join(folder, file))
  }
  const files = entries.map(({ types }) => types)
  const configs = entries.map(({ name, types }) => ({ name, config: configFor(name, types, files, folder) }))
  const [first] = configs
  if (first === undefined) throw new Error('package.json exports nothing.')
  // One program for all entries: making it is nearly all of the time this takes.
  const compilerState = CompilerState.create(first.config, { additionalEntryPoints: files })
  const forgotten: ForgottenExport[] = []
  for (const { name, config } of configs) {
    const heard = (message: ExtractorMessage) => {
      message.handled = true
      const [, symbol] = /^The symbol "([^"]+)" needs to be exported/.exec(message.text) ?? []
      if (message.messageId === 'ae-forgotten-export' && symbol) forgotten.push({ entry: name, symbol })
    }
    Extractor.invoke(config, { localBuild: true, compilerState, messageCallback: heard })
  }
  return forgotten
}

/** The report of an entry. */
export function reportFile(entry: string): string {
  return `${entry}.api.md`
}

function configFor(name: string, types: string, files: readonly string[], folder: string): ExtractorConfig {
  const off = { enabled: false }
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024'],
    module: 'nodenext',
    strict: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
  }
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(ROOT, 'package.json'),
    configObject: {
      projectFolder: ROOT,
      mainEntryPointFilePath: types,
      compiler: { overrideTsconfig: { compilerOptions, files } },
      newlineKind: 'lf',
      apiReport: {
        enabled: true,
        reportFolder: folder,
        reportTempFolder: join(ROOT, '.local/api'),
        reportFileName: reportFile(name),
      },
      docModel: off,
      dtsRollup: off,
      tsdocMetadata: off,
    },
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeReports(REPORTS)
