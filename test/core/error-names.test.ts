import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import * as core from '../../lib/index.ts'
import { RetryError } from '../../lib/retry/index.ts'

const { LambdaOnceError } = core

test('an error is named as its class, in a minified bundle too: logs and alarms look for the name', async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../../lib/base/errors.ts', import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
  })
  const code = Buffer.from(outputFiles[0]?.contents ?? '').toString('base64')
  const minified: Record<string, unknown> = await import(/* @vite-ignore */ `data:text/javascript;base64,${code}`)
  const classes = Object.entries(core).filter(
    ([, value]) => typeof value === 'function' && value.prototype instanceof LambdaOnceError,
  )
  const failure = { name: 'Error', message: 'failed', retryable: true }
  const names = classes.map(([name]) => {
    const Minified = minified[name] as new (first: unknown, second: unknown) => Error
    return new Minified(name === 'StepNotAwaitedError' ? ['a'] : failure, failure).name
  })
  expect(names.length).toBeGreaterThan(20)
  expect(names).toEqual(classes.map(([name]) => name))
})

test('a RetryError is named so', () => {
  expect(new RetryError('attempts', [new Error('reset')]).name).toBe('RetryError')
})
