// Writes docs/field-cases.md out of the names of the tests beside this file: `node test/field-cases/page.ts`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const FOLDER = new URL('./', import.meta.url)
/** Where the page lies. */
export const PAGE: URL = new URL('../../docs/field-cases.md', import.meta.url)

/** From what goes wrong first to what goes wrong around it. */
const ORDER = [
  'leases',
  'claims',
  'keys',
  'fingerprints',
  'http',
  'queues',
  'envelopes',
  'streams',
  'webhooks',
  'middy',
  'store',
  'deployment',
]

const INTRODUCTION = `# Field cases

What really happened to people who made Lambda handlers safe to run more than once, and what lambda-once does. Each line is
the name of the test that holds it. This page is made of those names: \`node test/field-cases/page.ts\`.
`

/** A group of cases: the title of a file's \`describe\` and the names of its tests. */
export interface Group {
  readonly file: string
  readonly title: string
  readonly cases: readonly string[]
}

/** Every group, in the order of the page; files that the order does not name come last. */
export function groups(): Group[] {
  const names = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.test.ts') && name !== 'page.test.ts')
    .map((name) => name.slice(0, -'.test.ts'.length))
  const known = ORDER.filter((name) => names.includes(name))
  return [...known, ...names.filter((name) => !ORDER.includes(name)).sort()].map(groupOf)
}

/** The page, as it has to be. */
export function page(): string {
  const sections = groups().map(
    ({ file, title, cases }) =>
      `## ${title}\n\n[\`${file}\`](../${file})\n\n${cases.map((name) => `- ${name}`).join('\n')}\n`,
  )
  return [INTRODUCTION, ...sections].join('\n')
}

/** A name behind \`describe(\`, \`test(\` or the list of a \`test.each\`. */
const NAME = /\b(describe|test)\(\s*(['"])((?:\\.|(?!\2).)*)\2|\)\(\s*(['"])((?:\\.|(?!\4).)*)\4,/g

function groupOf(name: string): Group {
  const file = `test/field-cases/${name}.test.ts`
  const code = readFileSync(new URL(`${name}.test.ts`, FOLDER), 'utf8')
  const found = [...code.matchAll(NAME)].map(([, kind, , single, , each]) => ({ kind, text: single ?? each ?? '' }))
  const title = found.find(({ kind }) => kind === 'describe')?.text ?? name
  return { file, title, cases: found.filter(({ kind }) => kind !== 'describe').map(({ text }) => written(text)) }
}

/** Without the place of a parameter, and with what Markdown would read as its own escaped. */
function written(name: string): string {
  return name
    .replace(/ \(%[^)]*\)/g, '')
    .replaceAll("\\'", "'")
    .replace(/[_*<>{}]/g, (sign) => `\\${sign}`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(PAGE, page())
