// The page of `lambda-once console`: one state, drawn anew with every change; what has not changed stays as it is, with its
// focus and its place.
import { html, render } from 'lit-html'
import type { About, LiveView, OneOperation } from '../console/wire.ts'
import { ask, askAbout, tell } from './ask.ts'
import { chartsSection, createDrawing } from './charts.ts'
import { demoSection } from './demo.ts'
import { listSection } from './list.ts'
import { startFeed } from './live.ts'
import { oneSection } from './one.ts'
import { askQuestion } from './question.ts'
import { type Actions, newState } from './state.ts'

const SECOND_MS = 1_000
const LOCAL_EVERY_SECONDS = 1

const app = document.getElementById('app') as HTMLElement
const question = document.getElementById('question') as HTMLDialogElement
const state = newState()
const drawing = createDrawing()
let feed: ReturnType<typeof startFeed> | undefined
/** What of the open operation is shown: it is read again when there is more. */
let shownOf = ''
let reading = 0
let isDue = false

function redraw(): void {
  if (isDue) return
  isDue = true
  requestAnimationFrame(() => {
    isDue = false
    render(page(), app)
    if (state.view !== undefined) drawing.draw(state.view.series)
  })
}

function page() {
  const { about, problem, chosen } = state
  return html`<a class="skip" href="#operations">Skip to the operations</a>
    <header>
      <h1>lambda-once <span>${about?.table ?? ''}</span></h1>
      <ul class="badges" aria-label="About this console">
        ${about === undefined ? '' : badges(about).map((text) => html`<li>${text}</li>`)}
        <li class=${state.connection}><span role="status">${connectionText()}</span></li>
      </ul>
    </header>
    <main class=${chosen === undefined ? '' : 'open'}>
      ${
        problem === undefined
          ? html`<div class="top">${demoSection(state, actions)}${chartsSection(state, actions)}</div>
              <div class="columns">${listSection(state, actions)}${oneSection(state, actions)}</div>`
          : html`<p class="error" role="alert">${problem}</p>`
      }
    </main>`
}

function badges({ endpoint, region, isLocal, allowWrites, isDemo, showValues }: About): readonly string[] {
  return [
    endpoint ?? region ?? 'DynamoDB',
    ...(isDemo ? ['demo'] : []),
    allowWrites ? 'may write, and asks each time' : 'reads only',
    ...(showValues ? ['shows stored values'] : []),
    ...(isLocal ? [] : ['each reading is billed']),
  ]
}

function connectionText(): string {
  switch (state.connection) {
    case 'connecting':
      return 'connecting …'
    case 'live':
      return state.every > 0 ? 'live' : 'connected'
    case 'lost':
      return 'the console does not answer; trying again'
    case 'ended':
      return 'the console was started anew: open the address that it has printed'
  }
}

function seen(view: LiveView): void {
  state.view = view
  const { chosen } = view
  if (chosen !== undefined && chosen.id === state.chosen && `${chosen.rev} ${chosen.told}` !== shownOf) {
    shownOf = `${chosen.rev} ${chosen.told}`
    void readOne(new URLSearchParams({ id: chosen.id }), false)
  }
  redraw()
}

/** @param isAsked - somebody has asked for it, and not a change: the focus goes there, and problems are shown at once. */
async function readOne(query: URLSearchParams, isAsked: boolean): Promise<void> {
  reading += 1
  const mine = reading
  try {
    const one = await ask<OneOperation>('operation', query)
    if (mine !== reading) return
    state.one = one
    state.chosen = one.id
    delete state.oneProblem
  } catch (error) {
    if (mine !== reading) return
    if (isAsked) delete state.one
    state.oneProblem = text(error)
  }
  if (isAsked) feed?.restart()
  redraw()
  if (isAsked) requestAnimationFrame(() => document.getElementById('one-title')?.focus())
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const actions: Actions = {
  filter(change) {
    state.filter = { ...state.filter, ...change }
    feed?.restart()
    redraw()
  },
  every(seconds) {
    state.every = seconds
    feed?.restart()
    redraw()
  },
  window(seconds) {
    state.windowSeconds = seconds
    feed?.restart()
    redraw()
  },
  read() {
    // What is wrong with the table comes with the next view; here only the console itself can fail.
    tell('read').catch(failed)
    if (state.chosen !== undefined) void readOne(new URLSearchParams({ id: state.chosen }), false)
  },
  lookUp(query) {
    delete state.done
    void readOne(query, true)
  },
  close() {
    const { chosen } = state
    for (const name of ['chosen', 'one', 'oneProblem', 'done'] as const) delete state[name]
    shownOf = ''
    reading += 1
    history.replaceState(null, '', location.pathname)
    feed?.restart()
    redraw()
    // Back to where it was opened.
    const link = [...document.querySelectorAll<HTMLElement>('#operations a')].find(
      (anchor) => anchor.getAttribute('href') === `#${encodeURIComponent(chosen ?? '')}`,
    )
    ;(link ?? document.getElementById('operations'))?.focus()
  },
  async act(act) {
    const id = state.one?.id
    if (id === undefined) return
    const answer = await askQuestion(question, id, act)
    if (answer === undefined) return
    try {
      const { result } = await tell<{ readonly result: string }>('act', { id, ...answer })
      state.done = { text: result, isProblem: false }
    } catch (error) {
      state.done = { text: text(error), isProblem: true }
    }
    await readOne(new URLSearchParams({ id }), false)
    // The button may be gone with what it has done.
    document.getElementById('one-title')?.focus()
  },
  play(action) {
    delete state.demoProblem
    tell('demo', { action }).catch((error: unknown) => {
      state.demoProblem = text(error)
      redraw()
    })
  },
}

function failed(error: unknown): void {
  state.problem = text(error)
  redraw()
}

function showChosen(): void {
  const id = decodeURIComponent(location.hash.slice(1))
  if (!id.includes('#')) return
  delete state.done
  delete state.one
  delete state.oneProblem
  state.chosen = id
  redraw()
  void readOne(new URLSearchParams({ id }), true)
}

redraw()
try {
  const about = await askAbout()
  state.about = about
  state.every = about.isLocal ? LOCAL_EVERY_SECONDS : 0
  document.title = `${about.table} – lambda-once`
  feed = startFeed(state, {
    seen,
    connection(now) {
      state.connection = now
      redraw()
    },
  })
  addEventListener('hashchange', showChosen)
  showChosen()
  // Times that count: the ends of leases come nearer.
  setInterval(() => {
    if (!document.hidden && !question.open) redraw()
  }, SECOND_MS)
} catch (error) {
  failed(error)
}
