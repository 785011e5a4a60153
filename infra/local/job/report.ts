import Table from 'cli-table3'
import pc from 'picocolors'
import { PARTS } from '../parts.ts'
import type { ProviderStats } from '../payment-provider/ledger.ts'
import type { Findings } from './audit.ts'
import type { Roles } from './roles.ts'
import { type Counts, sum } from './tally.ts'

/** Everything the final table shows. */
export interface RunResult {
  /** The functions ran in processes of their own, that could be killed. */
  readonly hadProcesses: boolean
  readonly roles: Roles
  readonly orders: number
  readonly orderRows: number
  readonly counts: Counts
  readonly provider: ProviderStats
  readonly findings: Findings
  readonly seconds: number
}

/** The table at the end of a run, for a person. */
export function reportTable(result: RunResult): string {
  const { counts, provider, findings, hadProcesses, roles } = result
  // Lines between rows would double the height of a table that has to fit on one screen.
  const chars = { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' }
  const table = new Table({ chars, style: { head: [], border: [] }, colAligns: ['left', 'right', 'left'] })
  const section = (title: string): void => {
    if (table.length > 0) table.push(['', '', ''])
    table.push([pc.bold(title), '', ''])
  }
  const events = (namespace: string, ...names: string[]): number =>
    names.reduce((sum, name) => sum + (counts.events.get(`${namespace}/${name}`) ?? 0), 0)

  section('HTTP: POST /orders')
  table.push(['orders meant', result.orders, 'each posted by 1–5 clients'])
  table.push(['requests', counts.requests, 'retries included'])
  for (const [status, count] of [...counts.answers].sort(([one], [other]) => one - other)) {
    table.push([`answers ${status}`, count, ANSWERS[status] ?? ''])
  }
  if (counts.connectionFailures > 0) table.push(['no answer', counts.connectionFailures, 'connection failed, retried'])
  table.push(['handler runs', events('orders', 'claimed', 'taken-over'), 'of orders-api'])
  table.push(['replays', counts.replayedAnswers, 'answered from the stored outcome'])

  section('Queue: payments')
  const payments = counts.sources.get(roles.paymentsQueue.name)
  const deliveries = [...(payments?.deliveriesById.values() ?? [])]
  table.push(['messages', deliveries.length, `each delivered at least ${Math.min(...deliveries)} times`])
  table.push(['deliveries', payments?.deliveries ?? 0, `${payments?.lostDeletes ?? 0} of them after a lost delete`])
  table.push(['handler runs', events('payments', 'claimed', 'taken-over'), 'of payments-worker'])
  table.push([
    'takeovers',
    events('payments', 'taken-over'),
    `of work a ${hadProcesses ? 'dead worker or a ' : ''}failed run left behind`,
  ])
  table.push(['replays', events('payments', 'replayed'), 'recognised as done, not run'])

  const functionRows = otherRows(result, events)
  if (functionRows.length > 0) {
    section('Other functions')
    table.push(...functionRows)
  }

  section('Killed processes')
  const killed = [...counts.kills].map(([part, kills]) => `${kills} of ${part}`)
  table.push([
    'killed',
    sum(counts.kills.values()),
    hadProcesses
      ? `kill -9 in the middle of their work${killed.length > 0 ? `: ${killed.join(', ')}` : ''}`
      : 'left out: no processes',
  ])

  section('Payment provider')
  table.push(['calls', provider.calls, 'POST /charges'])
  table.push(['charges made', provider.effects, 'real effects'])

  section('Books')
  table.push(['order rows', result.orderRows, `in the orders table, ${result.orders} expected`])
  const dead = findings.poisonInDeadLetterQueue ? 'the poisoned message' : pc.red('the poisoned message is missing')
  const others = findings.otherDeadLetters > 0 ? pc.red(` and ${findings.otherDeadLetters} good ones`) : ', only it'
  table.push(['dead letters', Number(findings.poisonInDeadLetterQueue) + findings.otherDeadLetters, dead + others])
  table.push(verdictRow('DUPLICATES', findings.duplicateRows, findings.duplicateCharges))
  table.push(verdictRow('LOSSES', findings.lostRows, findings.lostCharges))
  return table.toString()
}

/** What is said of functions that the sections above do not tell of. */
function otherRows(
  { counts, roles }: RunResult,
  events: (namespace: string, ...names: string[]) => number,
): [string, number, string][] {
  const toldAbove = ['orders-api', 'payments-worker']
  const parts = PARTS.filter(({ name }) => roles.functions.has(name) && !toldAbove.includes(name))
  const rows: [string, number, string][] = parts.map(({ name, namespace }) => [
    name,
    events(namespace, 'claimed', 'taken-over'),
    `handler runs, ${events(namespace, 'taken-over')} of them takeovers; ${events(namespace, 'replayed')} replays`,
  ])
  for (const [source, { deliveries, failedBatches, failedItems }] of counts.sources) {
    if (source === roles.paymentsQueue.name) continue
    rows.push([
      'deliveries',
      deliveries,
      `from ${source}; ${failedBatches} batches and ${failedItems} single ones failed`,
    ])
  }
  for (const [functionName, { runs, failures }] of counts.scheduledRuns) {
    rows.push(['scheduled runs', runs, `of ${functionName}, ${failures} failed`])
  }
  return rows
}

const ANSWERS: { readonly [status: number]: string } = {
  201: 'order created, or the same answer again',
  400: 'no Idempotency-Key',
  401: 'no token',
  409: 'still in progress: come again after Retry-After',
  422: 'same key, other body: refused',
  500: 'retried',
  503: 'busy: retried',
}

function verdictRow(name: string, rows: number, charges: number): [string, string, string] {
  const color = rows + charges === 0 ? pc.green : pc.red
  return [color(pc.bold(name)), color(pc.bold(String(rows + charges))), `${rows} order rows, ${charges} charges`]
}
