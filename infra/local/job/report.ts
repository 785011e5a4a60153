import Table from 'cli-table3'
import pc from 'picocolors'
import { PARTS } from '../parts.ts'
import type { ProviderStats } from '../payment-provider/server.ts'
import type { Findings } from './audit.ts'
import type { RecordsSeen } from './records.ts'
import type { Roles } from './roles.ts'
import { type Counts, sum } from './tally.ts'

/** Everything the final table shows. */
export interface RunResult {
  /** The functions ran in processes of their own, that could be killed. */
  readonly hadProcesses: boolean
  readonly roles: Roles
  readonly orders: number
  /** Orders whose only client posted once and never came back. */
  readonly abandoned: number
  readonly orderRows: number
  readonly ledgerRows: number
  readonly accounts: number
  /** Balance updates that were sent again at the end. */
  readonly lateUpdates: number
  readonly records: RecordsSeen
  readonly counts: Counts
  readonly provider: ProviderStats
  readonly findings: Findings
  readonly seconds: number
}

type Row = readonly [name: string, number: number | string, note: string]

/** The table at the end of a run, for a person. */
export function reportTable(result: RunResult): string {
  // Lines between rows would double the height of a table that has to fit on one screen.
  const chars = { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' }
  const table = new Table({ chars, style: { head: [], border: [] }, colAligns: ['left', 'right', 'left'] })
  for (const [title, rows] of sections(result)) {
    if (table.length > 0) table.push(['', '', ''])
    table.push([pc.bold(title), '', ''], ...rows.map((row) => [...row]))
  }
  return table.toString()
}

function sections(result: RunResult): readonly (readonly [title: string, rows: readonly Row[]])[] {
  return [
    ['Orders: POST /orders', orderRows(result)],
    ['Payments: from a queue', paymentRows(result)],
    ['Callbacks: POST /webhooks/payments', callbackRows(result)],
    ['Outbox, balances, reconciler', afterRows(result)],
    ['kill -9, in the middle of work', killRows(result)],
    ['Books', bookRows(result)],
  ]
}

/** How often something was told of operations of a namespace. */
function eventsIn({ counts }: RunResult, namespace: string, ...names: readonly string[]): number {
  return sum(names.map((name) => counts.events.get(`${namespace}/${name}`) ?? 0))
}

function orderRows(result: RunResult): Row[] {
  const { counts, orders, abandoned } = result
  const answers = [...counts.answers].sort(([one], [other]) => one - other)
  const refused = counts.connectionFailures > 0 ? `, ${counts.connectionFailures} without an answer` : ''
  return [
    ['orders meant', orders, 'each posted by 1–5 clients, who come again until they know'],
    ['abandoned', abandoned, 'of them: posted once, and nobody comes back'],
    ['requests', counts.requests, `${answers.map(([status, count]) => `${status}: ${count}`).join(', ')}${refused}`],
    ['handler runs', eventsIn(result, 'orders', 'claimed', 'taken-over', 'resumed'), takeovers(result, 'orders')],
    ['replays', counts.replayedAnswers, 'answered from the stored outcome'],
  ]
}

function paymentRows(result: RunResult): Row[] {
  const { counts, roles, records, provider } = result
  const payments = counts.sources.get(roles.paymentsQueue.name)
  const { found, notFound } = provider.lookups
  const deliveries = `${payments?.deliveries ?? 0} deliveries, ${payments?.lostDeletes ?? 0} of them after a lost delete`
  return [
    ['messages', payments?.deliveriesById.size ?? 0, deliveries],
    ['handler runs', eventsIn(result, 'payments', 'claimed', 'taken-over', 'resumed'), takeovers(result, 'payments')],
    ['replays', eventsIn(result, 'payments', 'replayed'), 'recognised as done, not run'],
    ['steps resumed', records.stepsResumed, 'later runs that found the charge recorded'],
    ['unknown, resolved', found + notFound, `by asking the provider: ${found} were charged, ${notFound} were not`],
    ['waits', eventsIn(result, 'payments', 'suspended'), 'for a busy provider, or for its callback: no receive spent'],
    ['provider calls', provider.calls, `POST /charges; ${provider.pending} charges were pending at first`],
  ]
}

function callbackRows(result: RunResult): Row[] {
  const { events, posts } = result.provider.callbacks
  return [
    ['events', events, `posted ${posts} times: each at least twice, in any order, until accepted`],
    ['signals', eventsIn(result, 'payments', 'signalled'), 'handed on to their payment; others came after its end'],
    ['replays', eventsIn(result, 'payment-events', 'replayed'), 'recognised by the event’s id'],
  ]
}

function afterRows(result: RunResult): Row[] {
  const { counts, roles, lateUpdates, hadProcesses } = result
  const updates = counts.sources.get(roles.paidOrdersQueue.name)
  const deeds = [...counts.deeds].map(([deed, count]) => `${count} ${deed}`)
  const runs = sum([...counts.scheduledRuns.values()].map((schedule) => schedule.runs))
  const late = `${updates?.deliveries ?? 0} deliveries; ${lateUpdates} are old ones that came again as new`
  return [
    [
      'messages relayed',
      counts.events.get('outbox-dispatched') ?? 0,
      `${counts.sentTwice} of them came to a queue twice`,
    ],
    ['balance updates', updates?.deliveriesById.size ?? 0, late],
    [
      'stale, skipped',
      counts.staleWrites.get('balances') ?? 0,
      'not newer than the balance: acknowledged, not applied',
    ],
    [
      'reconciled',
      sum(counts.deeds.values()),
      hadProcesses ? `${deeds.join(', ') || 'nothing was left behind'}; in ${runs} runs` : 'left out',
    ],
  ]
}

function killRows({ counts, provider, hadProcesses }: RunResult): Row[] {
  const total = sum(counts.kills.values())
  if (!hadProcesses) return [['killed', total, 'left out: no processes']]
  const each = PARTS.map(({ name }) => `${counts.kills.get(name) ?? 0} ${name}`)
  return [
    ['killed', total, [each.slice(0, 3).join(', '), each.slice(3).join(', ')].join('\n')],
    ['after the effect', provider.unheard, 'charges were made, and their worker died before it knew'],
  ]
}

function bookRows({ orderRows: rows, ledgerRows, accounts, orders, provider, findings }: RunResult): Row[] {
  const { neverBegun, poisonInDeadLetterQueue, otherDeadLetters } = findings
  const died = neverBegun > 0 ? `: ${neverBegun} abandoned ones died before they began` : ''
  const expected = `${orders - neverBegun} expected`
  const dead = poisonInDeadLetterQueue ? 'the poisoned message' : pc.red('the poisoned message is missing')
  const others = otherDeadLetters > 0 ? pc.red(` and ${otherDeadLetters} good ones`) : ', only it'
  const counted = ['rows', 'charges', 'entries', 'receipts'] as const
  const told = (which: 'duplicates' | 'losses') =>
    counted.map((name) => `${findings[name][which]} ${NAMES[name]}`).join(', ')
  const total = (which: 'duplicates' | 'losses') => sum(counted.map((name) => findings[name][which]))
  return [
    ['order rows', rows, `${expected}${died}`],
    ['marked as paid', rows - findings.unpaid, expected],
    ['charges made', provider.effects, `${expected}; real effects at the provider`],
    ['ledger entries', ledgerRows, expected],
    ['balances', accounts, `accounts; ${findings.wrongBalances} are not the sum of their charges`],
    ['dead letters', Number(poisonInDeadLetterQueue) + otherDeadLetters, dead + others],
    verdictRow('DUPLICATES', total('duplicates'), told('duplicates')),
    verdictRow('LOSSES', total('losses'), told('losses')),
  ]
}

function takeovers(result: RunResult, namespace: string): string {
  return `${eventsIn(result, namespace, 'taken-over', 'resumed')} of them took over what another run left behind`
}

const NAMES = { rows: 'order rows', charges: 'charges', entries: 'ledger entries', receipts: 'receipts' }

function verdictRow(name: string, count: number, note: string): Row {
  const color = count === 0 ? pc.green : pc.red
  return [color(pc.bold(name)), color(pc.bold(String(count))), note]
}
