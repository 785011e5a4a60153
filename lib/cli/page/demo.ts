import { html, type TemplateResult } from 'lit-html'
import { repeat } from 'lit-html/directives/repeat.js'
import type { DemoAction, DemoAnswer, DemoEntry, DemoState } from '../console/demo.ts'
import type { Actions, PageState } from './state.ts'
import { moment, span, type Tone } from './words.ts'

const SHOWN_ENTRIES = 10

interface Button {
  readonly action: DemoAction
  readonly text: string
  readonly isRisky?: true
}

const BUTTONS: readonly Button[] = [
  { action: 'send', text: 'Send an order' },
  { action: 'send-five', text: 'Send one five times at once' },
  { action: 'send-again', text: 'Send the last one again' },
  { action: 'other-body', text: 'Same key, another body' },
  { action: 'kill-worker', text: 'Kill the worker now', isRisky: true },
]
const PAUSE: Button = { action: 'pause', text: 'Pause the provider', isRisky: true }
const RESUME: Button = { action: 'resume', text: 'Let the provider go on', isRisky: true }

/** The buttons of the demo, and what came of pressing them. */
export function demoSection({ view, demoProblem }: PageState, actions: Actions): TemplateResult | string {
  const demo = view?.demo
  if (demo === undefined) return ''
  return html`<section aria-labelledby="demo-title" class="demo">
    <h2 id="demo-title">Try it</h2>
    <p class="soft">${demo.notYet ?? introduction(demo)}</p>
    <div class="buttons" role="group" aria-labelledby="demo-title">
      ${[...BUTTONS, demo.isPaused ? RESUME : PAUSE].map((button) => buttonOf(button, demo, actions))}
    </div>
    ${demoProblem === undefined ? '' : html`<p class="error" role="alert">${demoProblem}</p>`}
    <ol class="log" role="log" aria-label="What came of it, the newest first">
      ${repeat(
        demo.log.slice(0, SHOWN_ENTRIES),
        ({ number }) => number,
        (entry) => entryOf(entry),
      )}
    </ol>
    ${demo.hints.length === 0 ? '' : hints(demo.hints)}
  </section>`
}

function introduction({ isPaused }: DemoState): string {
  return isPaused
    ? 'The payment provider is paused: it takes requests and does not answer. An order that is sent now gets its charge later, once.'
    : 'Real requests to the service on this machine. Watch what becomes of them below.'
}

function buttonOf({ action, text, isRisky }: Button, demo: DemoState, actions: Actions): TemplateResult {
  const impossible = demo.impossible[action] ?? demo.notYet
  // Not `disabled`: a button that cannot be focused cannot say why it does nothing.
  return html`<button
    type="button"
    class=${isRisky === true ? 'risky' : 'primary'}
    data-action=${action}
    aria-disabled=${impossible === undefined ? 'false' : 'true'}
    title=${impossible ?? ''}
    @click=${() => actions.play(action)}
  >
    ${text}
  </button>`
}

function entryOf({ atMs, what, answers, result, operationId, action }: DemoEntry): TemplateResult {
  return html`<li data-action=${action}>
    <p>
      <time class="soft">${moment(atMs, Date.now())}</time> ${what}
      ${operationId === undefined ? '' : html`<a href=${`#${encodeURIComponent(operationId)}`}>see the operation</a>`}
    </p>
    ${
      answers.length === 0
        ? ''
        : html`<ul class="answers" aria-label="Answers">
            ${answers.map(
              (answer, place) =>
                html`<li class=${answerTone(answer)}>
                  <b>${answer.status === 0 ? 'no answer' : answer.status}</b>${answer.isReplay ? ' replayed' : ''}
                  ${isSaid(answers, place) ? '' : answer.text} <span class="soft">${afterwards(answer)}</span>
                </li>`,
            )}
          </ul>`
    }
    <p class="soft">${result ?? '…'}</p>
  </li>`
}

function afterwards({ tookMs, retryAfterSeconds }: DemoAnswer): string {
  return retryAfterSeconds === undefined ? span(tookMs) : `${span(tookMs)}, again after ${retryAfterSeconds} s`
}

/** Five times the same words are read as one: they are said once. */
function isSaid(answers: readonly DemoAnswer[], place: number): boolean {
  return answers.findIndex(({ text }) => text === answers[place]?.text) < place
}

function answerTone({ status, isReplay }: DemoAnswer): Tone {
  if (status >= 200 && status < 300) return isReplay ? 'calm' : 'good'
  return status === 409 || status === 422 ? 'care' : 'bad'
}

function hints(texts: readonly string[]): TemplateResult {
  return html`<details class="soft">
    <summary>What is made to go wrong here</summary>
    <ul>
      ${texts.map((text) => html`<li>${text}</li>`)}
    </ul>
  </details>`
}
