import { html, type TemplateResult } from 'lit-html'
import uPlot from 'uplot'
import { CHARTED, type Charted, type Series } from '../watch/series.ts'
import type { Actions, PageState } from './state.ts'
import { count, moment, span } from './words.ts'

const TITLES: Readonly<Record<Charted, { readonly title: string; readonly what: string; readonly colour: string }>> = {
  claimed: { title: 'Claims', what: 'operations that began', colour: '--busy' },
  replayed: { title: 'Replays', what: 'duplicates that got the stored answer', colour: '--good' },
  conflicted: { title: 'Conflicts', what: 'duplicates while the first one ran', colour: '--accent' },
  'taken-over': { title: 'Takeovers', what: 'attempts after one that died', colour: '--care' },
}

const HEIGHT = 92
const hours = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const WINDOWS: readonly (readonly [seconds: number, name: string])[] = [
  [300, '5 minutes'],
  [3_600, 'hour'],
  [86_400, '24 hours'],
]

/** The charts, each with its number, and all of them as a table. */
export function chartsSection({ view, about, windowSeconds }: PageState, actions: Actions): TemplateResult {
  const series = view?.series
  const windowName = WINDOWS.find(([seconds]) => seconds === windowSeconds)?.[1] ?? ''
  return html`<section aria-labelledby="charts-title" class="charts">
    <div class="bar">
      <h2 id="charts-title">The last ${windowName}</h2>
      <label
        >Show the last
        <select @change=${(event: Event) => actions.window(Number((event.target as HTMLSelectElement).value))}>
          ${WINDOWS.map(
            ([seconds, name]) => html`<option value=${seconds} ?selected=${seconds === windowSeconds}>${name}</option>`,
          )}
        </select></label
      >
    </div>
    <div class="tiles">${CHARTED.map((kind) => tile(kind, series?.counts[kind], windowName, series !== undefined))}</div>
    ${
      about === undefined || about.hasEvents
        ? ''
        : html`<p class="soft">
            A table holds what is, not what was: takeovers are placed at the last write of their operation, and what was
            released or has expired is not counted.
          </p>`
    }
    ${series === undefined ? '' : asTable(series)}
  </section>`
}

function tile(
  kind: Charted,
  counts: readonly number[] | undefined,
  windowName: string,
  isRead: boolean,
): TemplateResult {
  const { title, what } = TITLES[kind]
  const total = counts?.reduce((sum, one) => sum + one, 0)
  const isUnknown = isRead && counts === undefined
  const label =
    total === undefined
      ? title
      : `${title}: ${total} in the last ${windowName}, at most ${Math.max(...(counts ?? []))} in a column`
  return html`<figure class="tile">
    <figcaption>
      <span class="tile-title">${title}</span>
      <strong data-total=${kind}>${isUnknown ? 'not known' : (total?.toLocaleString() ?? '…')}</strong>
      <span class="soft">${
        isUnknown ? 'No table holds them: the events of an observer do, and the metrics made of them.' : what
      }</span>
    </figcaption>
    <div id=${`chart-${kind}`} class="chart" role="img" aria-label=${label} ?hidden=${isUnknown}></div>
  </figure>`
}

function asTable({ fromMs, stepMs, counts }: Series): TemplateResult {
  const nowMs = Date.now()
  const columns = Array.from({ length: counts.claimed?.length ?? 0 }, (_, column) => column)
  const filled = columns.filter((column) => CHARTED.some((kind) => (counts[kind]?.[column] ?? 0) > 0))
  return html`<details class="soft">
    <summary>The charts as a table</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="The charts as a table">
      <table>
        <caption>
          In columns of ${span(stepMs)}; those without anything are left out.
        </caption>
        <thead>
          <tr>
            <th scope="col">From</th>
            ${CHARTED.map((kind) => html`<th scope="col">${TITLES[kind].title}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${filled.map(
            (column) =>
              html`<tr>
                <th scope="row">${moment(fromMs + column * stepMs, nowMs)}</th>
                ${CHARTED.map((kind) => html`<td>${counts[kind]?.[column] ?? 'not known'}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${filled.length === 0 ? html`<p>Nothing: ${count(0, 'column')}.</p>` : ''}
  </details>`
}

/** Draws into the places that the tiles have for it. */
export interface Drawing {
  draw(series: Series): void
}

/** Makes the charts; they follow the colours and the width of the page. */
export function createDrawing(): Drawing {
  const plots = new Map<Charted, uPlot>()
  let last: Series | undefined

  function draw(series: Series): void {
    last = series
    const times = Array.from(
      { length: series.counts.claimed?.length ?? 0 },
      (_, column) => (series.fromMs + column * series.stepMs) / 1000,
    )
    for (const kind of CHARTED) {
      const place = document.getElementById(`chart-${kind}`)
      const counts = series.counts[kind]
      if (place === null || counts === undefined || place.clientWidth === 0) continue
      const data: uPlot.AlignedData = [times, [...counts]]
      const plot = plots.get(kind)
      if (plot === undefined) plots.set(kind, plotIn(place, kind, data))
      else {
        if (plot.width !== place.clientWidth) plot.setSize({ width: place.clientWidth, height: HEIGHT })
        plot.setData(data)
      }
    }
  }

  function again(): void {
    if (last !== undefined) draw(last)
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    for (const plot of plots.values()) plot.destroy()
    plots.clear()
    again()
  })
  addEventListener('resize', again)
  return { draw }
}

function plotIn(place: HTMLElement, kind: Charted, data: uPlot.AlignedData): uPlot {
  const colour = (name: string) => resolved(place, name)
  const axis: uPlot.Axis = {
    stroke: colour('--soft'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  }
  const options: uPlot.Options = {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [6, 18, 0, 0],
    // A column stands to the right of its time, the last one too.
    scales: {
      x: { range: (plot, least, most) => [least, most + ((plot.data[0][1] ?? 0) - (plot.data[0][0] ?? 0))] },
      y: { range: (_plot, _least, most) => [0, Math.max(4, most)] },
    },
    axes: [
      {
        ...axis,
        size: 20,
        gap: 2,
        space: 60,
        grid: { show: false },
        values: (_plot, splits) => splits.map((seconds) => hours.format(seconds * 1000)),
      },
      { ...axis, size: 30, gap: 4, space: 26, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000] },
    ],
    series: [
      {},
      {
        stroke: colour(TITLES[kind].colour),
        fill: colour(TITLES[kind].colour),
        width: 0,
        points: { show: false },
        ...(uPlot.paths.bars !== undefined && { paths: uPlot.paths.bars({ size: [0.8, 14], align: 1 }) }),
      },
    ],
  }
  return new uPlot(options, data, place)
}

/** A canvas knows no variables of the style sheet, and no light-dark(). */
function resolved(place: HTMLElement, name: string): string {
  place.style.color = `var(${name})`
  const { color } = getComputedStyle(place)
  place.style.color = ''
  return color
}
