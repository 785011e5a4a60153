import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { happeningIn } from '../../infra/local/console/happenings.ts'
import { findOrInstallChromium, launchChromium } from '../setup/chromium.ts'
import { createTable, localClient } from '../stores/table.ts'
import { consoleOn } from './console-set-up.ts'
import { operationsIn, SCOPE } from './set-up.ts'

const chromium = findOrInstallChromium()

let client: DynamoDBClient
let table: string
let operations: ReturnType<typeof operationsIn>
let browser: Browser
const ends: (() => Promise<unknown>)[] = []

describe.skipIf(!chromium.found)('the page in a browser', () => {
  beforeAll(async () => {
    if (!chromium.found) return
    client = localClient(inject('dynamoDbEndpoint'))
    table = await createTable(client)
    operations = operationsIn(client, table)
    browser = await launchChromium(chromium.path)
    await operations.stale('one')
    await operations.stuck('two', 'https://sqs.eu-central-1.amazonaws.com/1/q')
    await operations.failed('three')
    await operations.waiting('four')
    await operations.unknown('five')
    await operations.retryable('six')
  })
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })
  afterAll(async () => {
    await browser.close()
    client.destroy()
  })

  /** Opens the page; a complaint of the browser, of the policy too, and any request to elsewhere fails the test. */
  async function open(settings: Parameters<typeof consoleOn>[2] = {}, options: BrowserContextOptions = {}) {
    const console = await consoleOn(inject('dynamoDbEndpoint'), table, settings)
    const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, ...options })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('request', (request) => {
      if (!request.url().startsWith(console.url) && !request.url().startsWith('data:')) complaints.push(request.url())
    })
    ends.push(console.close, async () => {
      await context.close()
      expect(complaints).toEqual([])
    })
    await page.goto(console.url)
    await page.locator('#operations tbody tr').first().waitFor()
    return { page, complaints, ...console }
  }

  const row = (page: Page, text: string | RegExp) => page.locator('#operations tbody tr').filter({ hasText: text })
  const focused = (page: Page, attribute: string) => page.locator(':focus').getAttribute(attribute)
  const show = (page: Page, id: string) => page.goto(`${page.url().split('#')[0]}#${encodeURIComponent(id)}`)

  test('shows how every operation stands, and what the table cannot tell', async () => {
    const { page } = await open()
    for (const state of ['stale', 'unknown', 'waiting', 'failed', 'retryable', 'completed']) {
      await row(page, state).first().waitFor()
    }
    await page.getByText('1 message stuck').waitFor()
    expect(await page.locator('[data-total=replayed]').textContent()).toBe('not known')
    expect(Number(await page.locator('[data-total=claimed]').textContent())).toBeGreaterThanOrEqual(5)
    await page.locator('#chart-claimed canvas').waitFor()
    await page.getByText('reads only').waitFor()
  })

  test('shows a duplicate that was stopped, and one that was answered, in the timeline and in the charts', async () => {
    const { page, journal } = await open({ hasEvents: true })
    const tell = ({ type, ...event }: object & { type: string }) => {
      const told = happeningIn(JSON.stringify({ event: type, ...event }), 'test')
      if (told !== undefined) journal.add(told.operationId, told.happening)
    }
    const idempotency = operations.make({ observer: tell })
    const name = { key: 'duplicates', scope: SCOPE, fingerprint: false as const }
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const first = idempotency.run(name, async () => {
      begin()
      await held
    })
    await begun
    for (const _duplicate of [1, 2]) await idempotency.run(name, () => undefined).catch(() => undefined)
    await row(page, 'duplicate stopped ×2').filter({ hasText: 'running' }).waitFor()
    letGo()
    await first
    await idempotency.run(name, () => undefined)
    await row(page, 'duplicate replayed').filter({ hasText: 'completed' }).waitFor()
    for (const [kind, total] of [
      ['conflicted', '2'],
      ['replayed', '1'],
    ]) {
      await page.locator(`[data-total=${kind}]`, { hasText: total! }).waitFor()
    }
  })

  test('is filtered by state and by key, and looks an operation up by its name', async () => {
    const id = await operations.completed('by-name')
    const { page } = await open()
    await page.getByRole('checkbox', { name: 'failed' }).check()
    await page.getByText(/^1 operation;/).waitFor()
    expect(await row(page, 'failed').count()).toBe(1)
    await page.getByRole('checkbox', { name: 'failed' }).uncheck()
    await page.getByLabel('Key, id or note').fill('by-name')
    await page.getByText('Nothing is there that matches').waitFor()
    await page.getByText('Scope', { exact: true }).click()
    await page.getByRole('search').getByLabel('One part in each line').fill(SCOPE)
    await page.getByText(/^1 operation;/).waitFor()
    const lookup = page.getByRole('form', { name: 'Look one up' })
    await lookup.getByLabel('Namespace').fill('orders')
    await lookup.getByLabel('Scope').fill(SCOPE)
    await lookup.getByLabel('Key').fill('by-name')
    await lookup.getByRole('button').click()
    await page.locator('#one').getByText(id).waitFor()
  })

  test('says what to do when an operation is not there, and goes on', async () => {
    const { page, complaints } = await open()
    await page.locator('#lookup').getByLabel('Id').fill('orders#nonsense')
    await page.locator('#lookup').getByRole('button').click()
    await page.getByRole('alert').getByText('is no operation id').waitFor()
    // The browser tells of the refused request on its console, too.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400 (Bad Request)')])
    await row(page, 'failed').getByRole('link').click()
    await page.locator('#one h3', { hasText: 'History' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('is gone through by keyboard: open, read, close, and the focus is where it was', async () => {
    const { page } = await open()
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').textContent()).toBe('Skip to the operations')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    const chosen = await focused(page, 'href')
    expect(chosen).toMatch(/^#orders%23/)
    await page.keyboard.press('Enter')
    await page.locator('#one h3', { hasText: 'History' }).waitFor()
    expect(await focused(page, 'id')).toBe('one-title')
    for (const title of ['Who has it', 'Attempts', 'Record'])
      await page.locator('#one h3', { hasText: title }).waitFor()
    await page.keyboard.press('Tab')
    expect(await focused(page, 'id')).toBe('close')
    await page.keyboard.press('Enter')
    expect(await focused(page, 'href')).toBe(chosen)
  })

  test('keeps the focus and the line it is on while the table changes', async () => {
    const { page } = await open()
    const link = row(page, 'failed').getByRole('link')
    await link.focus()
    const href = await link.getAttribute('href')
    const element = await link.elementHandle()
    await operations.completed('comes-in-between')
    await row(page, 'completed').nth(1).waitFor()
    expect(await focused(page, 'href')).toBe(href)
    // The very same element: what has not changed is not drawn anew.
    expect(
      await element?.evaluate(
        (one: unknown) => one === Reflect.get(Reflect.get(globalThis, 'document'), 'activeElement'),
      ),
    ).toBe(true)
  })

  test('writes after a question that says what it means, and only then', async () => {
    const id = await operations.stopped('to-be-resumed')
    const { page } = await open({ allowWrites: true })
    await show(page, id)
    await page.getByRole('button', { name: 'resume' }).click()
    const dialog = page.getByRole('dialog', { name: 'Resume this operation?' })
    await dialog.getByText('Resuming says: nothing has happened that must not happen again.').waitFor()
    expect(await page.locator(':focus').textContent()).toBe('Leave it')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    expect((await operations.store.get(id))?.status).toBe('IN_PROGRESS')
    await page.getByRole('button', { name: 'resume' }).click()
    await dialog.getByRole('button', { name: 'Resume it' }).click()
    await page.getByText('It may run again: the next delivery continues it.').waitFor()
    expect((await operations.store.get(id))?.status).toBe('RETRYABLE')
  })

  test('settles with what somebody has found out, as JSON', async () => {
    const id = await operations.unknown('to-be-settled')
    const { page } = await open({ allowWrites: true })
    await show(page, id)
    await page.getByRole('button', { name: 'settle' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('It happened').check()
    await dialog.getByLabel('The answer as JSON').fill('{"paid":true}')
    await dialog.getByRole('button', { name: 'Settle it' }).click()
    await page.getByText('It is completed: repetitions get the value you gave.').waitFor()
    expect((await operations.store.get(id))?.status).toBe('COMPLETED')
  })

  test('offers no write where it only reads', async () => {
    const id = await operations.stopped('not-to-be-written')
    const { page } = await open()
    await show(page, id)
    await page.locator('#one h3', { hasText: 'History' }).waitFor()
    expect(await page.locator('#one [data-act]').count()).toBe(0)
  })

  test.each(['light', 'dark'] as const)(
    'in %s has nothing that a check of accessibility finds',
    async (colorScheme) => {
      const { page } = await open({ allowWrites: true }, { colorScheme })
      const background = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
      expect(background).toBe(colorScheme === 'dark' ? 'rgb(21, 24, 27)' : 'rgb(255, 255, 255)')
      await row(page, 'unknown').getByRole('link').click()
      await page.locator('#one h3', { hasText: 'History' }).waitFor()
      expect(await violations(page)).toEqual([])
      await page.getByRole('button', { name: 'settle' }).click()
      await page.getByRole('dialog').waitFor()
      expect(await violations(page)).toEqual([])
    },
  )

  test('fits a narrow screen', async () => {
    const { page } = await open({}, { viewport: { width: 360, height: 700 } })
    await row(page, 'unknown').getByRole('link').click()
    await page.locator('#one h3', { hasText: 'History' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    expect(await violations(page)).toEqual([])
  })
})

async function violations(page: Page): Promise<readonly string[]> {
  // By the debugger: the page's own policy lets no script in, and that is to stay so.
  await page.evaluate(axe.source)
  const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  const { violations: found } = (await page.evaluate(
    `axe.run(document, ${JSON.stringify({ runOnly })})`,
  )) as axe.AxeResults
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}
