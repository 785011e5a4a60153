import type { LiveView } from '../console/wire.ts'
import type { PageState } from './state.ts'

/** How long a change of the filter waits for the next one, in ms: whoever types is not to be answered letter by letter. */
const PATIENCE_MS = 250

/** Keeps the page told, while somebody sees it. */
export interface Feed {
  /** What is asked for has changed. */
  restart(): void
}

/** @param listener.seen - called with everything that comes */
export function startFeed(
  state: PageState,
  listener: { readonly seen: (view: LiveView) => void; readonly connection: (now: PageState['connection']) => void },
): Feed {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  function open(): void {
    source?.close()
    source = undefined
    if (document.hidden) return
    const { filter, every, windowSeconds, chosen } = state
    const query = new URLSearchParams({ every: `${every}`, window: `${windowSeconds}`, most: `${filter.most}` })
    for (const one of filter.states) query.append('state', one)
    for (const part of filter.scope) query.append('scope', part)
    if (filter.namespace !== '') query.set('namespace', filter.namespace)
    if (filter.find !== '') query.set('find', filter.find)
    if (chosen !== undefined) query.set('id', chosen)
    const opened = new EventSource(`api/live?${query}`)
    source = opened
    opened.onmessage = ({ data }: MessageEvent<string>) => {
      listener.connection('live')
      listener.seen(JSON.parse(data) as LiveView)
    }
    // It tries again by itself where nobody answers; where somebody does who knows nothing of this page, it has given up.
    opened.onerror = () => listener.connection(opened.readyState === EventSource.CLOSED ? 'ended' : 'lost')
  }

  // A page that nobody sees must not have the table read.
  document.addEventListener('visibilitychange', open)
  open()
  return {
    restart() {
      clearTimeout(timer)
      timer = setTimeout(open, PATIENCE_MS)
    },
  }
}
