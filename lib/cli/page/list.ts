import { html, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { repeat } from 'lit-html/directives/repeat.js'
import type { Row } from '../console/wire.ts'
import type { Told } from '../watch/happening.ts'
import { type Actions, type PageState, ROWS } from './state.ts'
import { count, happeningWord, iso, moment, nextOf, shortId, span, toneOf } from './words.ts'

const PACES: readonly (readonly [seconds: number, name: string])[] = [
  [0, 'when I say so'],
  [1, 'every second'],
  [10, 'every 10 s'],
  [60, 'every minute'],
]

/** The operations, with what is asked of them. */
export function listSection(state: PageState, actions: Actions): TemplateResult {
  const { view } = state
  return html`<section aria-labelledby="list-title" class="list">
    <h2 id="list-title">Operations</h2>
    ${filterForm(state, actions)}
    <p class="reading" role="status" aria-live="polite">${summary(state)}</p>
    <table id="operations" tabindex="-1">
      <caption class="hidden">
        Operations, the newest first
      </caption>
      <thead>
        <tr>
          <th scope="col">State</th>
          <th scope="col">Operation, and what has happened to it</th>
        </tr>
      </thead>
      <tbody>
        ${repeat(
          view?.rows ?? [],
          ({ id }) => id,
          (row) => rowOf(row, state),
        )}
      </tbody>
    </table>
    ${
      view !== undefined && view.rows.length < view.matching
        ? html`<p>
            <button type="button" @click=${() => actions.filter({ most: state.filter.most + ROWS })}>
              Show more: ${view.rows.length} of ${view.matching.toLocaleString()}
            </button>
          </p>`
        : ''
    }
  </section>`
}

function filterForm({ view, filter, every }: PageState, actions: Actions): TemplateResult {
  const isShown = (name: string) => filter.states.includes(name)
  const toggle = (name: string) =>
    actions.filter({
      states: isShown(name) ? filter.states.filter((one) => one !== name) : [...filter.states, name],
      most: ROWS,
    })
  const text = (event: Event) => (event.target as HTMLInputElement).value
  return html`<form id="filter" role="search" aria-label="Operations" @submit=${(event: Event) => event.preventDefault()}>
    <fieldset class="states">
      <legend>State</legend>
      ${Object.entries(view?.counts ?? {}).map(
        ([name, number]) =>
          html`<label class=${`pick ${number > 0 ? toneOf(name) : 'none'}`}
            ><input
              type="checkbox"
              name="state"
              value=${name}
              .checked=${live(isShown(name))}
              @change=${() => toggle(name)}
            />${name} <b>${number.toLocaleString()}</b></label
          >`,
      )}
    </fieldset>
    <label
      >Namespace
      <select name="namespace" @change=${(event: Event) => actions.filter({ namespace: text(event), most: ROWS })}>
        <option value="">any</option>
        ${(view?.namespaces ?? []).map(
          (name) => html`<option value=${name} ?selected=${name === filter.namespace}>${name}</option>`,
        )}
      </select></label
    >
    <label
      >Key, id or note
      <input
        name="find"
        type="search"
        autocomplete="off"
        spellcheck="false"
        @input=${(event: Event) => actions.filter({ find: text(event).trim(), most: ROWS })}
    /></label>
    <details class="scope">
      <summary>Scope</summary>
      <label
        >One part in each line
        <textarea
          name="scope"
          rows="3"
          spellcheck="false"
          aria-describedby="scope-hint"
          @input=${(event: Event) => actions.filter({ scope: text(event).split('\n'), most: ROWS })}
        ></textarea>
      </label>
      <p class="soft" id="scope-hint">
        Keys and scopes are not in the table, only a hash of both: a key is found with its exact scope. Of a batch handler
        that is the ARN of its queue, of an HTTP handler the method, the path and the parts of the principal.
      </p>
    </details>
    <label
      >Read again
      <select name="every" @change=${(event: Event) => actions.every(Number(text(event)))}>
        ${PACES.map(([seconds, name]) => html`<option value=${seconds} ?selected=${seconds === every}>${name}</option>`)}
      </select></label
    >
    <button type="button" id="read" @click=${actions.read}>Read now</button>
  </form>`
}

/** Screen readers speak what changes here, so that it says only what is worth it. */
function summary({ view, filter }: PageState): string | TemplateResult {
  if (view?.problem !== undefined) {
    const old = view.reading === undefined ? '' : ' What is shown is older.'
    return html`<span class="error">${view.problem}${old}</span>`
  }
  if (view?.reading === undefined) return 'Reading the table …'
  const { matching, reading, rows } = view
  const isFiltered = filter.states.length > 0 || filter.namespace !== '' || filter.find !== ''
  const found = rows.length === 0 ? (isFiltered ? 'Nothing is there that matches' : 'The table has no operations') : ''
  const how = reading.isWhole
    ? `all of the table’s ${count(reading.items, 'item')} read`
    : `${count(reading.items, 'item')} read at a time, the whole table ${count(reading.sweeps, 'time')} so far`
  const trimmed = reading.isTrimmed ? '; only the newest are kept here' : ''
  return `${found || count(matching, 'operation')}; ${how}${trimmed}.`
}

function rowOf(row: Row, { chosen }: PageState): TemplateResult {
  const nowMs = Date.now()
  const { id, label, namespace, standing, stuckMessages } = row
  const next = nextOf(row, nowMs)
  return html`<tr class=${id === chosen ? 'chosen' : ''}>
    <td>
      <span class=${`state ${toneOf(standing.kind)}`}>${standing.kind}</span>
      ${next === '' ? '' : html`<span class="soft next">${next}</span>`}
      ${stuckMessages > 0 ? html`<span class="state bad">${count(stuckMessages, 'message')} stuck</span>` : ''}
    </td>
    <td>
      <a href=${`#${encodeURIComponent(id)}`} aria-current=${id === chosen ? 'true' : 'false'} title=${id}
        >${label ?? namespace} <span class="id">${shortId(id)}</span></a
      >
      ${storyOf(row, nowMs)}
    </td>
  </tr>`
}

function storyOf({ story, earlier }: Row, nowMs: number): TemplateResult {
  const [first] = story
  return html`<ol class="story">
    ${earlier > 0 ? html`<li class="calm">… ${earlier} before</li>` : ''}
    ${story.map((one) => chip(one, one === first && earlier === 0 ? undefined : first?.atMs, nowMs))}
  </ol>`
}

function chip(one: Told, fromMs: number | undefined, nowMs: number): TemplateResult {
  const { sign, text, tone } = happeningWord(one)
  const when = fromMs === undefined ? moment(one.atMs, nowMs) : `${one.isBy ? '≤ ' : ''}+${span(one.atMs - fromMs)}`
  return html`<li class=${tone}>
    <span aria-hidden="true">${sign}</span> ${text}
    <time datetime=${iso(one.atMs)} title=${`${moment(one.atMs, nowMs)}${one.by === undefined ? '' : `, told by ${one.by}`}`}
      >${when}</time
    >
  </li>`
}
