import { describe, expect, test } from 'vitest'
import { NoEffectError, PermanentError, RetryLater } from '../../lib/index.ts'
import { type Disposition, meaningOfError, permittedDisposition } from '../../lib/record/disposition.ts'

const named = (name: string, fields: object = {}) => Object.assign(new Error(name), { name }, fields)
const middy = (packageName: string) => ({ cause: { package: packageName } })

describe('what a thrown error means', () => {
  test.each<[string, unknown, { answer: Disposition; retry: Disposition }]>([
    ['a plain error', new Error('boom'), { answer: 'fail', retry: 'resume' }],
    ['a thrown string', 'boom', { answer: 'fail', retry: 'resume' }],
    ['a 4xx of the handler', named('BadRequest', { statusCode: 400 }), { answer: 'fail', retry: 'resume' }],
    [
      'a 4xx of a Middy package',
      named('BadRequest', { statusCode: 400, ...middy('@middy/validator') }),
      { answer: 'release', retry: 'release' },
    ],
    [
      'a 5xx of a Middy package',
      named('Error', { statusCode: 500, ...middy('@middy/validator') }),
      { answer: 'fail', retry: 'resume' },
    ],
    ["Middy's early timeout", named('TimeoutError', middy('@middy/core')), { answer: 'keep', retry: 'keep' }],
    ["a fetch's TimeoutError", new DOMException('late', 'TimeoutError'), { answer: 'fail', retry: 'resume' }],
    ['NoEffectError', new NoEffectError(), { answer: 'release', retry: 'release' }],
    ['RetryLater', new RetryLater(), { answer: 'resume', retry: 'resume' }],
    ['PermanentError', new PermanentError('no'), { answer: 'fail', retry: 'fail' }],
  ])('%s', (_name, error, meaning) => {
    const context = { entered: true, effects: 'anywhere' } as const
    expect(meaningOfError(error, { ...context, contract: 'answer' })).toBe(meaning.answer)
    expect(meaningOfError(error, { ...context, contract: 'retry' })).toBe(meaning.retry)
  })

  test('releases when the wrapped function was not entered', () => {
    expect(meaningOfError(new Error('x'), { contract: 'answer', entered: false, effects: 'anywhere' })).toBe('release')
  })

  test('resumes after any error when all effects are declared to be in steps', () => {
    expect(meaningOfError(new Error('x'), { contract: 'answer', entered: true, effects: 'steps-only' })).toBe('resume')
  })

  test('recognises an error of another copy of the package by its brand', () => {
    const foreign = Object.assign(new Error('x'), { code: 'RETRY_LATER', [Symbol.for('lambda-once.error')]: true })
    expect(meaningOfError(foreign, { contract: 'answer', entered: true, effects: 'anywhere' })).toBe('resume')
  })
})

describe('a release', () => {
  test.each([
    [1, false, 'release'],
    [2, false, 'fail'],
    [1, true, 'resume'],
    [2, true, 'resume'],
  ] as const)('in attempt %i, with steps: %j, is a %s', (attempt, hasSteps, verdict) => {
    expect(permittedDisposition('release', { attempt, hasSteps, isUnrecorded: false })).toBe(verdict)
  })

  test('falls back as the caller says', () => {
    const traces = { attempt: 2, hasSteps: false, isUnrecorded: false }
    expect(permittedDisposition('release', traces, 'resume')).toBe('resume')
  })

  test.each([
    ['release', 'keep'],
    ['resume', 'keep'],
    ['fail', 'fail'],
    ['unknown', 'unknown'],
    ['keep', 'keep'],
  ] as const)('or any other way to give the lease up is none after an unrecorded step: %s is %s', (wished, verdict) => {
    expect(permittedDisposition(wished, { attempt: 1, hasSteps: true, isUnrecorded: true })).toBe(verdict)
  })
})
