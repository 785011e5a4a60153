import { html, render, type TemplateResult } from 'lit-html'
import type { ActRequest, OfferedAct } from '../console/wire.ts'

/** What somebody has answered: what is to be sent. `undefined`: nothing is to be done. */
export type Answer = Omit<ActRequest, 'id'> | undefined

/** Asks whether it shall be done, and says what it means. The focus goes back to where it was. */
export function askQuestion(dialog: HTMLDialogElement, id: string, act: OfferedAct): Promise<Answer> {
  return new Promise((resolve) => {
    render(question(dialog, id, act), dialog)
    const form = dialog.querySelector('form')
    form?.reset()
    dialog.returnValue = ''
    dialog.onclose = () => {
      const answer = dialog.returnValue === 'yes' && form !== null ? answerOf(act, new FormData(form)) : undefined
      resolve(answer)
    }
    dialog.showModal()
  })
}

function question(dialog: HTMLDialogElement, id: string, act: OfferedAct): TemplateResult {
  const { insistence, canRelay, retentionSeconds } = act
  const verb = act.act[0]?.toUpperCase() + act.act.slice(1)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    dialog.close((event.submitter as HTMLButtonElement | null)?.value ?? 'no')
  }
  return html`<h2 id="question-title">${verb} this operation?</h2>
    <p class="whole-id"><code>${id}</code></p>
    ${act.meaning.map((text) => html`<p>${text}</p>`)}
    <form method="dialog" class="ask" @submit=${submit}>
      ${retentionSeconds === undefined ? '' : settling(retentionSeconds)}
      ${
        canRelay
          ? html`<label class="check"
              ><input type="checkbox" name="relay" /> An outbox relay is deployed: put its stored request into the outbox with
              the same write.</label
            >`
          : ''
      }
      ${
        insistence === undefined
          ? ''
          : html`<label class="check"><input type="checkbox" name="insists" required /> ${insistence.text}</label>`
      }
      <p class="soft">It is written only if the operation is still exactly as it was shown.</p>
      <div class="buttons">
        <button type="submit" value="no" formnovalidate autofocus>Leave it</button>
        <button type="submit" value="yes" class="danger">${verb} it</button>
      </div>
    </form>`
}

function settling(retentionSeconds: number): TemplateResult {
  return html`<fieldset>
      <legend>What you have found out</legend>
      <label class="check"><input type="radio" name="kind" value="value" required /> It happened; this is the answer</label>
      <label class="check"><input type="radio" name="kind" value="error" required /> It failed for good, and this is why</label>
      <label
        >The answer as JSON, or why it failed
        <textarea name="text" rows="4" required spellcheck="false"></textarea>
      </label>
    </fieldset>
    <label
      >Kept for, in seconds (what the application has as <code>retentionSeconds</code>)
      <input type="number" name="retention" min="1" step="1" required value=${retentionSeconds}
    /></label>`
}

function answerOf({ act, shown }: OfferedAct, given: FormData): Answer {
  const text = String(given.get('text') ?? '')
  const retentionSeconds = Number(given.get('retention'))
  return {
    act,
    shown,
    insists: given.has('insists'),
    relay: given.has('relay'),
    ...(act === 'settle' && {
      settlement:
        given.get('kind') === 'error'
          ? { kind: 'error', message: text, retentionSeconds }
          : { kind: 'value', json: text, retentionSeconds },
    }),
  }
}
