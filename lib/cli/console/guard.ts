import { createHash, timingSafeEqual } from 'node:crypto'

/** What a request says of where it comes from. */
export interface Arrival {
  readonly method: string
  readonly host: string | undefined
  readonly origin: string | undefined
  /** `Sec-Fetch-Site`, which every browser of today sends and no page can forge. */
  readonly site: string | undefined
  /** `Sec-Fetch-Dest`: `document` for an address that somebody has opened. */
  readonly destination: string | undefined
  /** The first part of the path. */
  readonly secret: string
  /** What the page sends with everything that changes something. */
  readonly token: string | undefined
}

/** What makes a request this page's. */
export interface Own {
  readonly port: number
  readonly secret: string
  readonly token: string
}

/**
 * Whether a request comes from the page itself, or from somebody who was given its address.
 *
 * - The name in the address must be this machine's: a name of somebody else's can be made to point here (DNS rebinding),
 *   and then their page would be of the same origin.
 * - A page from elsewhere may open the address, and nothing else.
 * - What changes something carries a token, which only the page has.
 */
export function isFromPage(arrival: Arrival, own: Own): boolean {
  const { method, host, origin, site, destination } = arrival
  const hosts = [`127.0.0.1:${own.port}`, `localhost:${own.port}`]
  if (host === undefined || !hosts.includes(host)) return false
  if (!isSame(arrival.secret, own.secret)) return false
  if (origin !== undefined && origin !== `http://${host}`) return false
  const isOpened = method === 'GET' && destination === 'document'
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isOpened) return false
  if (method === 'GET' || method === 'HEAD') return true
  return method === 'POST' && isSame(arrival.token ?? '', own.token)
}

/** Compares without telling by its duration how much of it was right. */
function isSame(given: string, right: string): boolean {
  const [a, b] = [given, right].map((text) => createHash('sha256').update(text).digest())
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}
