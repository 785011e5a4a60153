// `npm run sim`: schedules by seed, or one of them told step by step.
import { parseArgs } from 'node:util'
import { search as explore } from '../model/search.ts'
import { PROGRAMS } from '../model/state.ts'
import { MUTANTS } from './mutants.ts'
import { loadMutant, mutantNamed, removeCopies, tryMutant } from './mutate.ts'
import type { SkewMode } from './plan.ts'
import { type Result, simulate } from './simulate.ts'
import { loadSubject } from './subject.ts'

const USAGE = `npm run sim -- [--seeds N] [--from K] [--skew within|beyond]   schedules K to K + N - 1
npm run sim -- --mutants [--seeds N]                           removes one protection after another
npm run sim -- --model                                         walks the whole state space of the protocol in small
SEED=K npm run sim -- [--skew …] [--mutant NAME]               tells one schedule step by step`

const SHOWN = 10

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string', default: '0' },
    skew: { type: 'string', default: 'within' },
    mutants: { type: 'boolean', default: false },
    model: { type: 'boolean', default: false },
    mutant: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const from = countOf('--from', values.from)
const { SEED } = process.env
try {
  if (values.help) console.log(USAGE)
  else if (SEED !== undefined) process.exitCode = await tell(countOf('SEED', SEED))
  else if (values.model) process.exitCode = walk()
  else if (values.mutants) process.exitCode = await tryAll(countOf('--seeds', values.seeds ?? '3000'))
  else process.exitCode = await search(countOf('--seeds', values.seeds ?? '20000'), skewOf(values.skew))
} finally {
  removeCopies()
}

function countOf(option: string, text: string): number {
  const count = Number(text)
  if (text !== '' && Number.isSafeInteger(count) && count >= 0) return count
  throw new Error(`${option} must be a whole number, 0 or more; got ${text}.`)
}

function skewOf(text: string): SkewMode {
  if (text === 'within' || text === 'beyond') return text
  throw new Error(`--skew must be within or beyond; got ${text}.`)
}

async function tell(seed: number): Promise<number> {
  const mutant = values.mutant === undefined ? undefined : mutantNamed(values.mutant)
  const subject = await (mutant === undefined ? loadSubject() : loadMutant(mutant))
  const lines: string[] = []
  const focus = mutant?.focus
  const { violation } = await simulate(subject, {
    seed,
    skew: skewOf(values.skew),
    ...(focus && { focus }),
    trace: (line) => lines.push(line),
  })
  console.log(lines.join('\n'))
  console.log(violation === undefined ? 'all invariants hold' : `violated: ${violation.invariant}\n${violation.detail}`)
  return violation === undefined ? 0 : 1
}

async function search(seeds: number, skew: SkewMode): Promise<number> {
  const subject = await loadSubject()
  const sum = { happenings: 0, faults: 0, overlaps: 0, spared: 0, written: 0, violations: 0 }
  const option = skew === 'within' ? '' : ` -- --skew ${skew}`
  for (let seed = from; seed < from + seeds; seed++) {
    const result: Result = await simulate(subject, { seed, skew })
    sum.happenings += result.happenings
    sum.faults += result.faults
    sum.overlaps += result.overlaps
    for (const { spared, written } of Object.values(result.looks)) {
      sum.spared += spared
      sum.written += written
    }
    const { violation, plan } = result
    if (violation === undefined) continue
    sum.violations++
    if (sum.violations > SHOWN) continue
    console.log(`violated: ${violation.invariant} (${plan.recipe}, ${plan.shell}, ${plan.lease} lease)`)
    console.log(`  ${violation.detail}\n  SEED=${seed} npm run sim${option}`)
  }
  const overlapping = skew === 'beyond' ? `, ${sum.overlaps} executions at once` : ''
  const looks = `${sum.spared + sum.written} looks before a claim (${sum.spared} of which saw one)`
  console.log(
    `${seeds} schedules, ${sum.happenings} scheduling points, ${sum.faults} faults, ${looks}${overlapping}, ${sum.violations} violations`,
  )
  return sum.violations === 0 ? 0 : 1
}

async function tryAll(seeds: number): Promise<number> {
  let alive = 0
  for (const mutant of MUTANTS) {
    const { killer, schedules } = await tryMutant(mutant, { from, seeds })
    if (killer === undefined) {
      alive++
      console.log(`ALIVE  ${mutant.name}: ${schedules} schedules did not show that it is missing`)
    } else {
      console.log(`killed ${mutant.name}: seed ${killer.seed}, ${killer.violation?.invariant}`)
    }
  }
  console.log(`${MUTANTS.length} mutants, ${MUTANTS.length - alive} killed, ${alive} alive`)
  return alive === 0 ? 0 : 1
}

function walk(): number {
  const walks = [
    { workers: 2, deliveries: 2, ticks: 4, late: 0 },
    { workers: 2, deliveries: 1, ticks: 6, late: 1 },
    { workers: 3, deliveries: 1, ticks: 4, late: 0 },
  ]
  let total = 0
  for (const bounds of walks) {
    for (const program of PROGRAMS) {
      const { states, transitions, violation } = explore({ program, ...bounds })
      total += states
      const of = `${program}, ${bounds.workers} workers, ${bounds.deliveries} deliveries each, ${bounds.late} late writes`
      console.log(`${of}: ${states} states, ${transitions} transitions`)
      if (violation === undefined) continue
      console.log(`violated: ${violation.invariant}\n  ${violation.way.join('\n  ')}`)
      return 1
    }
  }
  console.log(`${total} states, 0 violations`)
  return 0
}
