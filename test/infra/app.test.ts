import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'

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

describe('an environment', () => {
  const environments = { dev: { disposable: true, region: 'eu-west-1' } }

  test('names its stacks, and its settings are taken', () => {
    const { stderr, status } = runApp({ environment: 'dev', environments })
    expect({ stderr: stderr.replace(/^\[Warning[^\n]*\n?/gm, ''), status }).toMatchObject({ status: 0 })
    const manifest = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8'))
    expect(manifest.artifacts['LambdaOnceData-dev']).toMatchObject({
      environment: 'aws://unknown-account/eu-west-1',
      properties: { terminationProtection: false },
    })
    const { Resources } = JSON.parse(readFileSync(join(out, 'LambdaOnceData-dev.template.json'), 'utf8'))
    for (const { DeletionPolicy } of Object.values<{ DeletionPolicy: string }>(Resources)) {
      expect(DeletionPolicy).toBe('Delete')
    }
  })

  test('that is disposable may do without a payment provider: something stands in', () => {
    const { stderr, status } = runApp({
      environment: 'dev',
      environments: { dev: { disposable: true, standInProvider: true } },
    })
    expect({ stderr: stderr.replace(/^\[Warning[^\n]*\n?/gm, ''), status }).toMatchObject({ status: 0 })
    const { Resources } = JSON.parse(readFileSync(join(out, 'LambdaOncePayments-dev.template.json'), 'utf8'))
    const [urlId] = Object.keys(Resources).filter((id) => Resources[id].Type === 'AWS::Lambda::Url')
    const [worker] = Object.keys(Resources).filter(
      (id) => id.startsWith('PaymentsWorker') && Resources[id].Properties.Environment,
    )
    const { PAYMENT_PROVIDER_URL } = Resources[worker!].Properties.Environment.Variables
    const [slash, url] = ['/', { 'Fn::GetAtt': [urlId, 'FunctionUrl'] }]
    expect(PAYMENT_PROVIDER_URL).toEqual({
      'Fn::Join': ['', ['https://', { 'Fn::Select': [2, { 'Fn::Split': [slash, url] }] }]],
    })
  })

  test('that is not disposable charges nobody by no accident', () => {
    expect(runApp({ standInProvider: true }).stderr).toContain(
      'Context standInProvider is true, and the environment is not disposable',
    )
  })

  test('that is not in cdk.json is refused, with those that are', () => {
    expect(runApp({ environment: 'staging', environments }).stderr).toContain(
      'Context environment is "staging", and cdk.json has only: dev.',
    )
  })

  test('is disposable or not, and nothing else', () => {
    expect(runApp({ disposable: 'yes' }).stderr).toContain('Context disposable must be true or false; got "yes".')
  })
})

function runApp(context: object) {
  const CDK_CONTEXT_JSON = JSON.stringify({ 'aws:cdk:bundling-stacks': [], ...context })
  return spawnSync(process.execPath, [APP], {
    encoding: 'utf8',
    env: { ...process.env, CDK_OUTDIR: out, CDK_CONTEXT_JSON },
  })
}
