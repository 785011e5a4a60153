import { html, type TemplateResult } from 'lit-html'
import type { MessageView, OneOperation, RecordView } from '../console/wire.ts'
import type { Attempt } from '../watch/attempts.ts'
import type { Told } from '../watch/happening.ts'
import { type Cell, stored, table, time } from './cells.ts'
import type { Actions, PageState } from './state.ts'
import { attemptEnd, happeningWord, iso, moment, span, toneOf } from './words.ts'

/** The operation that is open. */
export function oneSection(state: PageState, actions: Actions): TemplateResult {
  const { one, oneProblem, chosen, done } = state
  return html`<section aria-labelledby="one-title" class="one" id="one">
    <div class="bar">
      <h2 id="one-title" tabindex="-1">${one?.label ?? 'One operation'}</h2>
      ${chosen === undefined ? '' : html`<button type="button" id="close" @click=${actions.close}>Close</button>`}
    </div>
    <div role="status" aria-live="polite" id="done">
      ${done === undefined ? '' : html`<p class=${done.isProblem ? 'error' : 'done'}>${done.text}</p>`}
    </div>
    ${
      oneProblem !== undefined
        ? html`<p class="error" role="alert">${oneProblem}</p>`
        : one === undefined
          ? html`<p class="soft">${chosen === undefined ? 'Choose an operation in the list, or look one up.' : 'Reading it …'}</p>`
          : operation(one, actions)
    }
    ${one === undefined ? lookUp(actions) : ''}
  </section>`
}

function lookUp(actions: Actions): TemplateResult {
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const query = new URLSearchParams()
    for (const [name, value] of new FormData(event.target as HTMLFormElement)) {
      const parts = name === 'scope' ? String(value).split('\n') : [String(value)]
      for (const part of parts) if (part.trim() !== '') query.append(name, part.trim())
    }
    actions.lookUp(query)
  }
  return html`<form id="lookup" aria-label="Look one up" @submit=${submit}>
    <label>Id <input name="id" autocomplete="off" spellcheck="false" size="30" /></label>
    <span>or</span>
    <label>Namespace <input name="namespace" autocomplete="off" spellcheck="false" /></label>
    <label>Scope, one part in each line <textarea name="scope" rows="2" spellcheck="false"></textarea></label>
    <label>Key <input name="key" autocomplete="off" spellcheck="false" /></label>
    <button type="submit">Look it up</button>
  </form>`
}

function operation(one: OneOperation, actions: Actions): TemplateResult {
  const nowMs = Date.now()
  const { record, standing } = one
  return html`<p class="whole-id"><code>${one.id}</code></p>
    <p>
      ${standing === undefined ? '' : html`<span class=${`state ${toneOf(standing.kind)}`}>${standing.kind}</span>`}
      ${one.sentence}
    </p>
    ${
      one.acts.length === 0
        ? ''
        : html`<div class="buttons" role="group" aria-label="What you can do about it">
            ${one.acts.map(
              (act) =>
                html`<button type="button" class="risky" data-act=${act.act} @click=${() => actions.act(act)}>
                  ${act.act} …
                </button>`,
            )}
          </div>`
    }
    <h3>Who has it</h3>
    <p>${one.holder}</p>
    ${table(
      'Attempts',
      ['Attempt', 'Began', 'Ended', 'How it ended'],
      one.attempts.map((attempt) => attemptRow(attempt, nowMs)),
    )}
    <h3>History</h3>
    <ol class="history">
      ${historyOf(one, nowMs)}
    </ol>
    <p class="soft">${one.limits}</p>
    ${record === undefined ? '' : steps(record, nowMs)}
    ${table(
      'Receipts',
      ['Kind', 'At', 'Attempt', 'Step', 'Value'],
      one.receipts.map(({ kind, at, attempt, step, value }) => [
        kind,
        time(at, nowMs),
        attempt,
        step ?? '',
        stored(value),
      ]),
    )}
    ${table(
      'Outbox',
      ['State', 'To', 'Created', 'Body'],
      one.messages.map((message) => messageRow(message, nowMs)),
    )}
    ${record === undefined ? '' : facts(record, nowMs)}`
}

/** What was told and what lies beside the record, in the order of its times. */
function historyOf(one: OneOperation, nowMs: number): readonly TemplateResult[] {
  const happened = one.story.map((happening) => {
    const { sign, text, tone } = happeningWord(happening)
    const by = happening.by === undefined ? '' : html` <span class="soft">${happening.by}</span>`
    const last = happening.times > 1 ? html` <span class="soft">the last ${moment(happening.lastMs, nowMs)}</span>` : ''
    const when = html`${moment(happening.atMs, nowMs)} <span class="offset">${offset(happening, one.story)}</span>`
    return { atMs: happening.atMs, line: line(happening.atMs, when, tone, sign, html`${text}${by}${last}`) }
  })
  const beside = one.beside.map(({ atMs, what, isFuture }) => ({
    atMs,
    line: isFuture
      ? line(atMs, moment(atMs, nowMs), 'future', '…', `${what} (to come)`)
      : line(atMs, moment(atMs, nowMs), 'plain', '·', what),
  }))
  return [...happened, ...beside].sort((a, b) => a.atMs - b.atMs).map((entry) => entry.line)
}

function line(atMs: number, when: Cell, tone: string, sign: string, what: Cell): TemplateResult {
  return html`<li class=${tone}>
    <time datetime=${iso(atMs)}>${when}</time>
    <span><span aria-hidden="true">${sign}</span> ${what}</span>
  </li>`
}

/** How long after the beginning: seconds are too coarse for what takes milliseconds. */
function offset({ atMs, isBy }: Told, [first]: readonly Told[]): string {
  if (first === undefined || atMs === first.atMs) return ''
  return `${isBy ? '≤ ' : ''}+${span(atMs - first.atMs)}`
}

function attemptRow({ number, beganAtMs, endedAtMs, end, by }: Attempt, nowMs: number): readonly Cell[] {
  const lasted = beganAtMs !== undefined && endedAtMs !== undefined ? `, after ${span(endedAtMs - beganAtMs)}` : ''
  return [
    by === undefined ? number : html`${number} <span class="soft">${by}</span>`,
    beganAtMs === undefined ? 'not known' : moment(beganAtMs, nowMs),
    endedAtMs === undefined ? (end === 'running' ? 'not yet' : 'not known') : moment(endedAtMs, nowMs),
    `${attemptEnd(end)}${lasted}`,
  ]
}

function steps({ steps: all }: RecordView, nowMs: number): TemplateResult | string {
  return table(
    'Steps',
    ['Step', 'State', 'Result'],
    all.map(({ name, kind, startedAt, result, failure }) => {
      if (kind === 'done') return [name, 'done', result === undefined ? '' : stored(result)]
      if (kind === 'started') return [name, 'begun', html`${time(startedAt ?? '', nowMs)}, and no end recorded`]
      return [name, 'done', `its result could not be stored: ${failure?.name ?? ''}`]
    }),
  )
}

function messageRow(message: MessageView, nowMs: number): readonly Cell[] {
  if (message.isUnreadable) return [html`<span class="state bad">unreadable</span>`, '', '', '']
  const { state, stuckReason, to, createdAt, dispatchedAt, body } = message
  const sent = dispatchedAt === undefined ? '' : html`<span class="soft">sent ${time(dispatchedAt, nowMs)}</span>`
  return [
    html`<span class=${`state ${toneOf(state)}`}>${state}</span>${stuckReason === undefined ? '' : `: ${stuckReason}`}`,
    Object.values(to ?? {})[0] ?? '',
    html`${createdAt === undefined ? '' : time(createdAt, nowMs)} ${sent}`,
    body === undefined ? '' : stored(body),
  ]
}

function facts(record: RecordView, nowMs: number): TemplateResult {
  const { outcome, request, metadata = {}, signals, crashes = 0 } = record
  const rows: (readonly [string, Cell] | undefined)[] = [
    ['status', `${record.status}, attempt ${record.attempt}, rev ${record.rev}`],
    ['first claim', time(record.createdAt, nowMs)],
    ['last write', time(record.updatedAt, nowMs)],
    record.leaseUntil === undefined ? undefined : ['lease until', time(record.leaseUntil, nowMs)],
    record.resumeAt === undefined ? undefined : ['due', time(record.resumeAt, nowMs)],
    record.waitingFor === undefined ? undefined : ['waits for', record.waitingFor],
    ['kept until', record.expiresAt === undefined ? 'for ever' : time(record.expiresAt, nowMs)],
    record.takeover === 'never' ? ['takeover', 'never: only an operator may decide'] : undefined,
    crashes > 0 ? ['crashes', `${crashes} attempts ended without a word`] : undefined,
    ['fence', html`<code>${record.fence}</code>`],
    ...Object.entries(metadata).map(([name, value]) => [`note ${name}`, value] as const),
    outcome?.failure === undefined
      ? undefined
      : ['failure', [outcome.failure.name, outcome.failure.code, outcome.failure.message].filter(Boolean).join(' · ')],
    outcome?.value === undefined
      ? undefined
      : [record.isCommitted ? 'outcome, committed' : 'outcome', stored(outcome.value)],
    record.wireResponse === undefined ? undefined : ['response', stored(record.wireResponse)],
    request === undefined
      ? undefined
      : ['stored request', html`${stored(request.payload)} to ${Object.values(request.target)[0] ?? ''}`],
    ...signals.map(({ at, payload }) => ['signal', html`${time(at, nowMs)}, ${stored(payload)}`] as const),
  ]
  return html`<h3>Record</h3>
    <dl>
      ${rows.map((row) => (row === undefined ? '' : html`<div><dt>${row[0]}</dt><dd>${row[1]}</dd></div>`))}
    </dl>`
}
