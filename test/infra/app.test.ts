import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const APP = fileURLToPath(new URL('../../infra/bin/app.ts', import.meta.url))

const out = mkdtempSync(join(tmpdir(), 'cdk-out-'))
afterAll(() => rmSync(out, { recursive: true }))

test('the app builds both stacks without an account, a region or a setting', () => {
  const { status, stderr } = runApp({})
  expect(stderr).toBe('')
  expect(status).toBe(0)
  expect(readdirSync(out).filter((name) => name.endsWith('.template.json'))).toEqual([
    'LambdaOnceData.template.json',
    'LambdaOncePayments.template.json',
  ])
})

test.each([7, ''])('refuses %j as a setting, by name and with an example', (jwtIssuer) => {
  const { status, stderr } = runApp({ jwtIssuer })
  expect(stderr).toContain(
    `Context jwtIssuer must be a non-empty string, such as "https://issuer.example.com"; got ${JSON.stringify(jwtIssuer)}.`,
  )
  expect(status).not.toBe(0)
})

function runApp(context: object) {
  const CDK_CONTEXT_JSON = JSON.stringify({ 'aws:cdk:bundling-stacks': [], ...context })
  return spawnSync(process.execPath, [APP], {
    encoding: 'utf8',
    env: { ...process.env, CDK_OUTDIR: out, CDK_CONTEXT_JSON },
  })
}
