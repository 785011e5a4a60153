import type { ServerResponse } from 'node:http'
import type { Watch } from '../watch/watch.ts'
import type { Demo } from './demo.ts'
import { type LiveQuery, liveView } from './live-view.ts'

/** How often is looked whether a page has to be told of something, in ms: soon enough to seem at once. */
const LOOK_EVERY_MS = 200
/** Something becomes stale, or due, without anybody writing it. */
const STANDING_EVERY_MS = 1_000
/** Also without news, so that a page knows how old is what it shows, and that somebody is there. */
const TELL_AGAIN_MS = 5_000
/** After a failed reading the table is left alone a little longer each time, up to this. */
const LONGEST_PAUSE_MS = 30_000

/** The pages that are open, and told of what happens. */
export interface Live {
  /** Tells this page from now on. @param everyMs - how often the table is read for it; 0: only now. */
  open(response: ServerResponse, query: LiveQuery, everyMs: number): void
  /** Reads the table now, and tells everybody. */
  read(): Promise<void>
  close(): void
}

interface Page {
  readonly response: ServerResponse
  readonly query: LiveQuery
  readonly everyMs: number
  sent: string
  toldAtMs: number
}

/**
 * Tells pages of what the watch sees, as server-sent events. Where no page is open, nothing is read.
 *
 * @param explained - what was thrown, as a sentence
 */
export function createLive(watch: Watch, demo: Demo | undefined, explained: (error: unknown) => string): Live {
  const pages = new Set<Page>()
  let timer: NodeJS.Timeout | undefined
  let readAtMs = Number.NEGATIVE_INFINITY
  let lookedAtMs = 0
  let failures = 0
  let problem: string | undefined
  let isReading = false
  let isDirty = true
  let version = -1

  async function read(): Promise<void> {
    isReading = true
    try {
      await watch.read()
      problem = undefined
      failures = 0
    } catch (error) {
      problem = explained(error)
      failures += 1
    } finally {
      // From the end on: a table that answers slowly is not asked the more often for it.
      readAtMs = Date.now()
      isReading = false
      isDirty = true
    }
  }

  function tell(nowMs: number): void {
    for (const page of pages) {
      const view = liveView(watch, demo, page.query, nowMs)
      // When it was read changes with every reading, and is worth telling only with something else, or now and then.
      const { reading: _when, ...matter } = view
      const text = JSON.stringify({ ...matter, problem })
      if (text === page.sent && nowMs - page.toldAtMs < TELL_AGAIN_MS) continue
      // Who does not read what was sent gets the newest later, in place of all that is between.
      if (page.response.writableNeedDrain) continue
      page.sent = text
      page.toldAtMs = nowMs
      page.response.write(`data: ${JSON.stringify({ ...view, problem })}\n\n`)
    }
  }

  function look(): void {
    const nowMs = Date.now()
    const paces = [...pages].map(({ everyMs }) => everyMs).filter((everyMs) => everyMs > 0)
    const pauseMs = Math.min(LONGEST_PAUSE_MS, failures * 1_000)
    if (!isReading && paces.length > 0 && nowMs - readAtMs >= Math.min(...paces) + pauseMs) void read()
    const isNews = isDirty || version !== watch.journal.version() || nowMs - lookedAtMs >= STANDING_EVERY_MS
    if (!isNews) return
    isDirty = false
    version = watch.journal.version()
    lookedAtMs = nowMs
    tell(nowMs)
  }

  return Object.freeze({
    open(response: ServerResponse, query: LiveQuery, everyMs: number) {
      const page: Page = { response, query, everyMs, sent: '', toldAtMs: 0 }
      pages.add(page)
      isDirty = true
      timer ??= setInterval(look, LOOK_EVERY_MS)
      response.once('close', () => {
        pages.delete(page)
        if (pages.size > 0) return
        clearInterval(timer)
        timer = undefined
      })
      if (watch.reading() === undefined && !isReading) void read().then(look)
      else look()
    },
    async read() {
      await read()
      look()
    },
    close() {
      clearInterval(timer)
      for (const { response } of pages) response.end()
    },
  })
}
