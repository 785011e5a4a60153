import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runCli } from './set-up.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

test('the bundle that is published needs nothing but the AWS SDK, and passes the licences on', async () => {
  execFileSync(process.execPath, ['infra/package/bundle-cli.ts'], { cwd: ROOT })
  const main = `${ROOT}dist/cli/main.js`
  const imported = [...readFileSync(main, 'utf8').matchAll(/^import .* from ["']([^"']+)["'];?$/gm)].map(
    ([, name]) => name,
  )
  expect(imported.filter((name) => !name?.startsWith('node:') && !name?.startsWith('@aws-sdk/'))).toEqual([])
  expect(readFileSync(`${ROOT}dist/cli/LICENSES.txt`, 'utf8')).toContain('commander 15')
  const { code, stdout } = await runCli(['--help'], { main })
  expect([code, stdout]).toEqual([0, expect.stringContaining('doctor')])
  const { bin } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { bin: Record<string, string> }
  expect(bin).toEqual({ 'lambda-once': './dist/cli/main.js' })
})
