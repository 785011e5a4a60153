/** The three forms an HTTP-date may have; all of them begin with the day's name and are in GMT (RFC 9110, 5.6.7). */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/

/** The two headers a wait is computed from. */
export interface RetryAfterHeaders {
  readonly retryAfter: string | null | undefined
  /** When the server answered, by its own clock: ours may differ from the one the date was made with. */
  readonly date: string | null | undefined
}

/** How long a `Retry-After` asks to wait, in ms; `undefined` when there is none that can be read. */
export function retryAfterMs(headers: RetryAfterHeaders, nowMs: number): number | undefined {
  const text = headers.retryAfter?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const atMs = httpDateMs(text)
  if (atMs === undefined) return undefined
  return Math.max(0, atMs - (httpDateMs(headers.date ?? '') ?? nowMs))
}

function httpDateMs(text: string): number | undefined {
  if (!HTTP_DATE.test(text)) return undefined
  // The asctime form leaves GMT out, and the parser would take it for local time.
  const ms = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(ms) ? undefined : ms
}
