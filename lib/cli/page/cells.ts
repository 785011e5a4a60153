import { html, type TemplateResult } from 'lit-html'
import type { ShownValue } from '../operation/values.ts'
import { iso, moment, sizeText } from './words.ts'

/** What stands in a place of a table. */
export type Cell = string | number | TemplateResult

/** A table under its title; nothing where it has no rows. The first cell of a row is its head. */
export function table(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly Cell[])[],
): TemplateResult | string {
  if (rows.length === 0) return ''
  return html`<h3>${title}</h3>
    <div class="scroll" tabindex="0" role="region" aria-label=${title}>
      <table>
        <thead>
          <tr>
            ${heads.map((head) => html`<th scope="col">${head}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ([first = '', ...cells]) =>
              html`<tr>
                <th scope="row">${first}</th>
                ${cells.map((cell) => html`<td>${cell}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`
}

/** A moment, with the exact one behind it. */
export function time(at: string | number, nowMs: number): TemplateResult {
  const atMs = new Date(at).getTime()
  return html`<time datetime=${iso(atMs)} title=${String(at)}>${Number.isNaN(atMs) ? at : moment(atMs, nowMs)}</time>`
}

/** A stored value: its size, and what is in it where that was asked for. */
export function stored(value: ShownValue): Cell {
  const about = sizeText(value)
  if (value.lost !== undefined) return html`<span class="error">${about}: lost. ${value.lost}</span>`
  if (value.value === undefined) return about
  const text = typeof value.value === 'string' ? value.value : JSON.stringify(value.value, undefined, 2)
  return html`${about}
    <pre tabindex="0">${text}</pre>`
}
