import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EXIT } from '../../lib/cli/exit.ts'
import { runCli } from './set-up.ts'

const text = ['docs/cli.md', 'docs/operating.md'].map((path) =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'),
)
const [reference = '', guide = ''] = text

test('the table of commands is that of the program', async () => {
  const { stdout } = await runCli(['--help'])
  const commands = [...stdout.matchAll(/^ {2}(\w+) \[options\]/gm)].map(([, name]) => name)
  const rows = [...reference.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  expect(commands.length).toBeGreaterThan(9)
  expect(rows.slice(0, commands.length)).toEqual(commands)
})

test('the table of exit codes is that of the code', () => {
  const rows = [...reference.matchAll(/^\| (\d+) \| `(\w+)` \|/gm)].map(([, code, name]) => [name, Number(code)])
  expect(Object.fromEntries(rows)).toEqual(EXIT)
})

test('every option that is named exists', async () => {
  const commands = [
    'list',
    'inspect',
    'resume',
    'settle',
    'release',
    'redrive',
    'dispatch',
    'export',
    'doctor',
    'console',
  ]
  const help = (await Promise.all(commands.map((name) => runCli([name, '--help'])))).map(({ stdout }) => stdout).join()
  const named = new Set([...(reference + guide).matchAll(/(?<![\w-])--[a-z][\w-]+/g)].map(([option]) => option))
  const known = [...help.matchAll(/--[a-z][\w-]+/g)].map(([option]) => option)
  expect(named.size).toBeGreaterThan(15)
  expect([...named].filter((option) => !known.includes(option))).toEqual([])
})
