// `npm run sim`: schedules by seed, or one of them told step by step.
import { parseArgs } from 'node:util'
import { MUTANTS } from './mutants.ts'
import { loadMutant, mutantNamed, removeCopies, tryMutant } from './mutate.ts'
import type { SkewMode } from './plan.ts'
import { type Result, simulate } from './simulate.ts'
import { loadSubject as loadS } from './subject.ts'
const loadSubject = () => loadS(process.env.SUBJECT ? new URL(process.env.SUBJECT, 'file:///') : undefined)

const USAGE = `npm run sim -- [--seeds N] [--from K] [--skew within|beyond]   schedules K to K + N - 1
npm run sim -- --mutants [--seeds N]                           removes one protection after another
SEED=K npm run sim -- [--skew …] [--mutant NAME]               tells one schedule step by step`

const SHOWN = 10

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string', default: '0' },
    skew: { type: 'string', default: 'within' },
    mutants: { type: 'boolean', default: false },
    mutant: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const from = Number(values.from)
const { SEED } = process.env
try {
  if (values.help) console.log(USAGE)
  else if (SEED !== undefined) process.exitCode = await tell(Number(SEED))
  else if (values.mutants) process.exitCode = await tryAll(Number(values.seeds ?? 3_000))
  else process.exitCode = await search(Number(values.seeds ?? 20_000), skewOf(values.skew))
} finally {
  removeCopies()
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
  const sum = { happenings: 0, faults: 0, overlaps: 0, violations: 0 }
  const option = skew === 'within' ? '' : ` -- --skew ${skew}`
  for (let seed = from; seed < from + seeds; seed++) {
    const result: Result = await simulate(subject, { seed, skew })
    sum.happenings += result.happenings
    sum.faults += result.faults
    sum.overlaps += result.overlaps
    const { violation, plan } = result
    if (violation === undefined) continue
    sum.violations++
    if (sum.violations > SHOWN) continue
    console.log(`violated: ${violation.invariant} (${plan.recipe}, ${plan.shell}, ${plan.lease} lease)`)
    console.log(`  ${violation.detail}\n  SEED=${seed} npm run sim${option}`)
  }
  const overlapping = skew === 'beyond' ? `, ${sum.overlaps} executions at once` : ''
  console.log(
    `${seeds} schedules, ${sum.happenings} scheduling points, ${sum.faults} faults${overlapping}, ${sum.violations} violations`,
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
