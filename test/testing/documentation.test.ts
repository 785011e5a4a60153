import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Inside the checkout, so that the blocks find its packages. */
const WORKSPACE = `${ROOT}.local/testing-blocks-${process.pid}`

interface Loaded {
  readonly documented: { readonly name: string; readonly run: () => Promise<unknown> }[]
}

const guide = readFileSync(`${ROOT}docs/testing.md`, 'utf8')
const fences = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, code = '']) => code)

/** Loads a block of the guide as a module, with its tests collected instead of run. */
async function load(code: string, index: number): Promise<Loaded['documented']> {
  mkdirSync(WORKSPACE, { recursive: true })
  const file = `${WORKSPACE}/block-${index}.ts`
  const collecting = `export const documented = []\nconst test = (name, run) => documented.push({ name, run })\n`
  const module = code
    .replace(/import \{ (expect, )?test \} from 'vitest'/, (_, expects) =>
      expects ? `import { expect } from 'vitest'` : '',
    )
    .replaceAll(/'lambda-once(\/\w+)?'/g, (_, entry = '') => `'${ROOT}lib${entry}/index.ts'`)
  writeFileSync(file, collecting + module)
  return ((await import(file)) as Loaded).documented
}

const blocks = await Promise.all(fences('ts').map(load))
const [bad = [], ...good] = blocks

afterAll(() => rmSync(WORKSPACE, { recursive: true, force: true }))

describe('the guide', () => {
  test('shows what the bad handler’s test says, to the letter', async () => {
    const [message] = fences('text')
    await expect(bad[0]?.run()).rejects.toThrow(expect.objectContaining({ name: 'NotIdempotentError' }))
    const said = await bad[0]?.run().catch((error: Error) => error.message)
    expect(`${said}\n`).toBe(message)
  })

  test.each(good.flat())('shows a test that passes: $name', async ({ run }) => {
    await run()
  })

  test('shows some', () => {
    expect(good.flat()).toHaveLength(4)
  })
})
