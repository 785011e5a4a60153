import { expect, test } from 'vitest'
import { type Arrival, isFromPage } from '../../lib/cli/console/guard.ts'

const own = { port: 4000, secret: 'the-secret', token: 'the-token' }
const read: Arrival = {
  method: 'GET',
  host: '127.0.0.1:4000',
  origin: undefined,
  site: 'same-origin',
  destination: 'empty',
  secret: 'the-secret',
  token: undefined,
}
const write: Arrival = { ...read, method: 'POST', origin: 'http://127.0.0.1:4000', token: 'the-token' }

test.each<[string, Partial<Arrival>, Partial<Arrival>]>([
  ['reads', {}, {}],
  ['is opened by somebody', { site: 'none', destination: 'document' }, { site: 'none' }],
  ['comes by its other name', { host: 'localhost:4000' }, { host: 'localhost:4000', origin: 'http://localhost:4000' }],
  ['comes from no browser', { site: undefined, destination: undefined }, { site: undefined, origin: undefined }],
])('lets in what %s', (_, reading, writing) => {
  expect([isFromPage({ ...read, ...reading }, own), isFromPage({ ...write, ...writing }, own)]).toEqual([true, true])
})

test('lets a link from elsewhere open the page, and do nothing else', () => {
  expect(isFromPage({ ...read, site: 'cross-site', destination: 'document' }, own)).toBe(true)
  expect(isFromPage({ ...write, site: 'cross-site', destination: 'document' }, own)).toBe(false)
})

test.each<[string, Partial<Arrival>]>([
  ['a name that somebody has pointed at this machine', { host: 'evil.example:4000' }],
  ['the name of another port', { host: '127.0.0.1:4001' }],
  ['no name', { host: undefined }],
  ['another secret', { secret: 'the-secreT' }],
  ['no secret', { secret: '' }],
  ['a page from elsewhere', { origin: 'https://evil.example' }],
  ['a page of another port', { origin: 'http://127.0.0.1:4001' }],
  ['a page without an origin', { origin: 'null' }],
  ['a script of another site', { site: 'cross-site' }],
  ['a script of another port', { site: 'same-site' }],
])('keeps out %s', (_, change) => {
  expect([isFromPage({ ...read, ...change }, own), isFromPage({ ...write, ...change }, own)]).toEqual([false, false])
})

test.each<[string, Partial<Arrival>]>([
  ['without a token', { token: undefined }],
  ['with another token', { token: 'the-other' }],
  ['with a method of its own', { method: 'DELETE' }],
])('keeps out a write %s', (_, change) => {
  expect(isFromPage({ ...write, ...change }, own)).toBe(false)
})
