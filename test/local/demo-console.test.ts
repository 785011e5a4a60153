import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findOrInstallChromium, launchChromium } from '../setup/chromium.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const START = fileURLToPath(new URL('../../infra/local/start.ts', import.meta.url))
const chromium = findOrInstallChromium()

/** Starts the service with nothing but its page; answers the page's address once its buttons work. */
async function serve(...flags: string[]) {
  const child = spawn(process.execPath, [START, '--serve', '--orders', '0', ...flags], { cwd: ROOT })
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString()
  })
  const stop = async () => {
    child.kill('SIGTERM')
    return exited
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^Serving until Ctrl-C.* (http:\S+)$/.exec(line)?.[1]
    if (url !== undefined) return { url, stop }
  }
  throw new Error(`the service ended before it served: ${complaint}`)
}

describe.skipIf(!chromium.found)('the page of npm start -- --serve', () => {
  let browser: Browser
  const ends: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    if (chromium.found) browser = await launchChromium(chromium.path)
  })
  afterAll(async () => {
    await browser.close()
    for (const end of ends) await end()
  })

  const newPage = async () => {
    const page = await browser.newPage()
    // Five processes start here on a machine that may be busy.
    page.setDefaultTimeout(90_000)
    return page
  }
  const press = (page: Page, name: string) => page.getByRole('button', { name }).click()
  const entry = (page: Page, action: string) => page.locator(`.log > li[data-action=${action}]`)
  const row = (page: Page, text: string) => page.locator('#operations tbody tr').filter({ hasText: text })

  test('shows what its buttons do: duplicates stopped, a reused key refused, a killed worker taken over', async () => {
    const { url, stop } = await serve()
    ends.push(stop)
    const page = await newPage()
    await page.goto(url)

    await press(page, 'Send one five times at once')
    const five = entry(page, 'send-five')
    await five.getByText('Placed once.').waitFor()
    expect(await five.getByRole('list', { name: 'Answers' }).getByRole('listitem').count()).toBe(5)
    expect(await five.locator('.answers .good').count()).toBe(1)
    await row(page, 'order 1')
      .filter({ hasText: /duplicate (stopped|replayed)/ })
      .first()
      .waitFor()

    await press(page, 'Send the last one again')
    await entry(page, 'send-again').getByText('replayed').waitFor()
    await press(page, 'Same key, another body')
    await entry(page, 'other-body').getByText('422').waitFor()
    await row(page, 'other request refused').filter({ hasText: 'completed' }).first().waitFor()

    // Else the kill could hit the last of its deliveries, which nobody has to continue.
    await row(page, 'payment of order 1').filter({ hasText: 'completed' }).first().waitFor()
    await press(page, 'Pause the provider')
    await entry(page, 'pause').waitFor()
    await press(page, 'Kill the worker now')
    await press(page, 'Send an order')
    await row(page, 'worker killed').first().waitFor()
    await press(page, 'Let the provider go on')
    // Whichever payment it was at, and whatever else a busy machine has done to it: it is continued, and ends.
    const continued = row(page, 'worker killed').filter({ hasText: /(taken over|continued), attempt/ })
    await continued.filter({ hasText: 'completed' }).first().waitFor({ timeout: 150_000 })
    expect(await stop()).toBe(0)
  }, 360_000)

  test('without Java has its buttons too, and says why a worker cannot be killed', async () => {
    const { url, stop } = await serve('--in-memory')
    ends.push(stop)
    const page = await newPage()
    await page.goto(url)
    await press(page, 'Send an order')
    await row(page, 'payment of order 1').filter({ hasText: 'claimed' }).waitFor()
    // It is said to be disabled, and can be pressed all the same: a button that does nothing has to say why.
    await page.getByRole('button', { name: 'Kill the worker now' }).click({ force: true })
    await page.getByRole('alert').getByText('takes Java').waitFor()
    expect(await stop()).toBe(0)
  }, 240_000)
})
