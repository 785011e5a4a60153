import { GROUPING_MUTANTS } from './grouping-mutants.ts'
import type { Plan } from './plan.ts'
import { VARIANT_MUTANTS } from './variant-mutants.ts'

/** A copy of lib in which one thing that protects was removed on purpose. */
export interface Mutant {
  readonly name: string
  /** What is removed, as text: it has to be found exactly once in the file. */
  readonly file: string
  readonly from: string
  readonly to: string
  /** Where the damage can show: the rest of the plan is left to chance. */
  readonly focus: Partial<Plan>
}

const STORM: Partial<Plan> = { faultRate: 0.3, killRate: 0.4, freezeRate: 0.2 }
const SLOW: Partial<Plan> = { ...STORM, lease: 'fixed', fates: ['past-the-lease', 'slow', 'applied-late'] }
/** Many who ask for one operation at once, on clocks as far apart as they may be. */
const BUSY: Partial<Plan> = {
  ...STORM,
  shell: 'client',
  operations: 1,
  waitSeconds: 8,
  machines: [{ skewMs: -500 }, { skewMs: 500 }],
}
const SHORT: Partial<Plan> = { retentionSeconds: 20, unfinishedRetentionSeconds: 3 }

/** The writes of a holder, each without its condition: it overwrites whatever lies there. */
const unfenced = (intent: string, focus: Partial<Plan>): Mutant => ({
  name: `fence on ${intent}`,
  file: 'lease/lease.ts',
  from: "const condition: StandingCondition = { kind: 'seen', token, rev: known.rev }",
  to: `const there = intent === '${intent}' ? await store.get(id) : undefined
      const condition: StandingCondition = { kind: 'seen', token: there?.token ?? token, rev: there?.rev ?? known.rev }`,
  focus,
})

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'token of the holder',
    file: 'memory/holds.ts',
    from: "const isHeld = there?.token === condition.token && there.status === 'IN_PROGRESS'",
    to: "const isHeld = there?.status === 'IN_PROGRESS'",
    focus: { ...SLOW, recipe: 'commit' },
  },
  {
    name: 'rev at takeover',
    file: 'memory/holds.ts',
    from: 'return there?.token === condition.token && there.rev === condition.rev',
    to: 'return there?.token === condition.token',
    focus: { ...SLOW, recipe: 'extend' },
  },
  {
    name: 'token at takeover',
    file: 'memory/holds.ts',
    from: 'return there?.token === condition.token && there.rev === condition.rev',
    to: 'return there?.rev === condition.rev',
    focus: { ...SLOW, recipe: 'errors' },
  },
  {
    name: 'a write needs a record',
    file: 'memory/holds.ts',
    from: '(countsAsAbsent(there, condition.moment) && there.createdAtMs < Math.floor(condition.moment.nowMs))',
    to: 'true',
    focus: { ...STORM },
  },
  {
    name: 'finished until it expires',
    file: 'record/record.ts',
    from: "case 'FAILED':\n      return isExpired(record, moment.nowMs)",
    to: "case 'FAILED':\n      return true",
    focus: {},
  },
  {
    name: 'unknown never counts as absent',
    file: 'record/record.ts',
    from: "case 'UNKNOWN':\n      return false",
    to: "case 'UNKNOWN':\n      return true",
    focus: { ...STORM, recipe: 'stop' },
  },
  {
    name: 'an expired record with steps is kept',
    file: 'record/record.ts',
    from: ' && Object.keys(record.steps).length === 0 &&',
    to: ' &&',
    focus: { ...STORM, ...SHORT, recipe: 'stop' },
  },
  {
    name: 'clock skew',
    file: 'record/record.ts',
    from: 'record.leaseUntil + clockSkewMs >= nowMs',
    to: 'record.leaseUntil >= nowMs',
    focus: { ...STORM, lease: 'deadline', recipe: 'plain', shell: 'client', operations: 1 },
  },
  {
    name: 'lease margin',
    file: 'lease/lease.ts',
    from: 'remainingMs + settings.leaseMarginMs',
    to: 'remainingMs',
    focus: { ...BUSY, lease: 'deadline', recipe: 'plain', killRate: 0, freezeRate: 1, fates: [] },
  },
  {
    name: 'no expiry under a lease',
    file: 'record/expiry.ts',
    from: 'return Math.max(expiryAfter(nowMs, retentionSeconds), expiryAfter(leaseUntil, 1))',
    to: 'return expiryAfter(nowMs, retentionSeconds)',
    focus: { ...STORM, ...SHORT, recipe: 'plain' },
  },
  {
    name: 'own token',
    file: 'record/decide.ts',
    from: 'record.token === claimant.token && isLeaseRunning',
    to: "record.token === 'nobody' && isLeaseRunning",
    focus: { ...STORM, shell: 'client', fates: ['sent-twice'], killRate: 0, freezeRate: 0 },
  },
  {
    name: 'fingerprint before replay',
    file: 'record/decide.ts',
    from: 'if (!isSameRequest(record.fingerprint, claimant.fingerprint))',
    to: "if (record.status !== 'COMPLETED' && !isSameRequest(record.fingerprint, claimant.fingerprint))",
    focus: { shell: 'client', operations: 3 },
  },
  {
    name: 'fingerprint before takeover',
    file: 'record/decide.ts',
    from: 'if (!isSameRequest(record.fingerprint, claimant.fingerprint))',
    to: "if (record.status === 'COMPLETED' && !isSameRequest(record.fingerprint, claimant.fingerprint))",
    focus: { ...STORM, shell: 'client', operations: 3 },
  },
  {
    name: 'failed is final',
    file: 'record/decide.ts',
    from: "case 'COMPLETED':\n    case 'FAILED':\n      return { kind: 'replay' }",
    to: "case 'COMPLETED':\n      return { kind: 'replay' }\n    case 'FAILED':\n      return { kind: 'takeover' }",
    focus: { ...STORM, recipe: 'errors' },
  },
  {
    name: 'unknown is not taken over',
    file: 'record/decide.ts',
    from: "return { kind: 'unknown' }",
    to: "return { kind: 'takeover' }",
    focus: { ...STORM, recipe: 'stop' },
  },
  {
    name: 'waiting until it is due',
    file: 'record/decide.ts',
    from: 'record.resumeAtMs !== undefined && record.resumeAtMs <= moment.nowMs',
    to: 'record.resumeAtMs !== undefined',
    focus: { recipe: 'delay' },
  },
  {
    name: 'a running lease is not taken over',
    file: 'record/decide.ts',
    from: 'if (isLeaseRunning(record, moment)) {\n        return',
    to: "if (record.takeover === 'never') {\n        return",
    focus: { ...STORM },
  },
  {
    name: "takeover: 'never'",
    file: 'record/decide.ts',
    from: "return record.takeover === 'never' ? { kind: 'in-progress' } : { kind: 'takeover' }",
    to: "return { kind: 'takeover' }",
    focus: { ...STORM, recipe: 'plain', takeover: 'never' },
  },
  {
    name: 'a late answer proves nothing',
    file: 'engine/claim.ts',
    from: 'answer.applied && clock.now()',
    to: 'answer.applied && -clock.now()',
    focus: { ...SLOW, faultRate: 0.6, recipe: 'plain', fates: ['past-the-lease'], operations: 1 },
  },
  {
    name: 'fails closed',
    file: 'engine/claim.ts',
    from: 'return { applied: false, existing: await store.get(id), failure: error }',
    to: 'return { applied: true }',
    focus: { ...STORM, fates: ['not-applied', 'throttled'] },
  },
  {
    name: 'attempt rises at takeover',
    file: 'engine/claim.ts',
    from: 'attempt: seen.attempt + 1',
    to: 'attempt: seen.attempt',
    focus: { ...STORM },
  },
  {
    name: 'fences rise over a release',
    file: 'engine/claim.ts',
    from: 'fresh(seen.createdAtMs + 1)',
    to: 'fresh()',
    focus: { ...BUSY, recipe: 'errors' },
  },
  {
    name: 'rev rises over a replacement',
    file: 'engine/claim.ts',
    from: 'token, rev: seen.rev + 1 }',
    to: 'token, rev: 1 }',
    focus: { ...SLOW, ...SHORT, faultRate: 0.6, recipe: 'plain', shell: 'client', operations: 1, killRate: 0 },
  },
  {
    name: 'a new token for a new record',
    file: 'engine/claim.ts',
    from: '        token = settings.newId()\n        tokens.add(token)\n',
    to: '',
    focus: { ...SLOW, ...SHORT, faultRate: 0.6, recipe: 'plain', shell: 'client', operations: 1, killRate: 0 },
  },
  {
    name: 'crashes are counted',
    file: 'engine/claim.ts',
    from: 'if (crashes > settings.maxCrashes)',
    to: 'if (crashes > settings.maxCrashes + 1)',
    focus: { ...STORM, maxCrashes: 0 },
  },
  {
    name: 'steps survive a takeover',
    file: 'steps/steps.ts',
    from: 'Object.assign(Object.create(null), held.steps)',
    to: 'Object.create(null)',
    focus: { ...STORM, recipe: 'keyed' },
  },
  {
    name: 'start marks',
    file: 'steps/step-run.ts',
    from: "const marked = options.onUnknown === 'stop' || options.keyValidSeconds !== undefined",
    to: 'const marked = false',
    focus: { ...STORM, recipe: 'stop' },
  },
  {
    name: "onUnknown: 'stop'",
    file: 'steps/step-run.ts',
    from: "found === undefined ? onUnknown !== 'stop' : found.kind === 'not-done'",
    to: "found === undefined || onUnknown === undefined || found.kind === 'not-done'",
    focus: { ...STORM, recipe: 'stop' },
  },
  {
    name: 'only NoEffectError closes a mark',
    file: 'steps/step-run.ts',
    from: "before === undefined && isLambdaOnceError(error, 'NO_EFFECT')",
    to: 'before === undefined',
    focus: { ...STORM, recipe: 'stop', fates: ['answer-lost', 'applied-late'] },
  },
  {
    name: 'one downstream key for all attempts',
    file: 'steps/step-run.ts',
    from: 'hashOfParts([held.id, held.fingerprint, name])',
    to: 'hashOfParts([held.id, held.fingerprint, name, String(held.attempt)])',
    focus: { ...STORM, recipe: 'keyed' },
  },
  {
    name: 'the horizon of a downstream key',
    file: 'steps/step-run.ts',
    from: 'if (mayRun && keyIsValid)',
    to: 'if (mayRun)',
    focus: { ...STORM, recipe: 'horizon', shell: 'client' },
  },
  {
    name: 'open steps end before the lease is given up',
    file: 'steps/steps.ts',
    from: 'if (open.size === 0) return true',
    to: 'return true',
    focus: { ...STORM, recipe: 'parallel', fates: ['answer-lost', 'throttled', 'slow'], lease: 'deadline' },
  },
  {
    name: 'no release after an attempt',
    file: 'record/disposition.ts',
    from: "wished !== 'release' || (attempt === 1 && !hasSteps)",
    to: 'true',
    focus: { ...STORM, recipe: 'errors' },
  },
  {
    name: 'a commit is fenced',
    file: 'engine/commit.ts',
    from: "prepared.commit(change, { kind: 'held', token }, requestToken)",
    to: "settings.store.get(id).then((there) => prepared.commit(change, { kind: 'seen', token: there?.token ?? token, rev: there?.rev ?? 1 }, requestToken))",
    focus: { ...SLOW, recipe: 'commit' },
  },
  unfenced('complete', { ...SLOW, recipe: 'plain' }),
  unfenced('fail', { ...SLOW, recipe: 'errors', shell: 'client', effects: 'anywhere' }),
  unfenced('resume', { ...SLOW, recipe: 'keyed' }),
  unfenced('release', { ...SLOW, recipe: 'errors', shell: 'client' }),
  unfenced('suspend', { ...SLOW, recipe: 'delay' }),
  unfenced('extend', { ...SLOW, recipe: 'keyed' }),
  {
    name: 'late renewals',
    file: 'lease/lease.ts',
    from: "const condition: StandingCondition = { kind: 'seen', token, rev: known.rev }",
    to: "const condition: StandingCondition = { kind: 'held', token }",
    focus: { ...STORM, recipe: 'stop', fates: ['applied-late', 'answer-lost'], killRate: 0 },
  },
  {
    name: 'no suspension past a signal',
    file: 'lease/lease.ts',
    from: '(known.signals?.length ?? 0) > (knownSignals ?? Number.POSITIVE_INFINITY)',
    to: 'known.rev < 0 && knownSignals !== undefined',
    focus: { ...STORM, recipe: 'wait' },
  },
  {
    name: 'no release past a signal',
    file: 'engine/execution.ts',
    from: 'knownSignals: 0,',
    to: '',
    focus: { ...STORM, recipe: 'wait', shell: 'queue', lease: 'deadline', freezeRate: 0.5, killRate: 0, faultRate: 0 },
  },
  {
    name: 'a signal wakes',
    file: 'idempotency/signal.ts',
    from: "const isWaiting = status === 'WAITING'",
    to: 'const isWaiting = false',
    focus: { recipe: 'wait' },
  },
  {
    name: 'in progress is not done',
    file: 'batch/verdict.ts',
    from: "if (answer.kind === 'waiting' && answer.isContinued) return DONE",
    to: "if (answer.kind === 'in-progress') return DONE",
    focus: { ...STORM, shell: 'queue' },
  },
  {
    name: 'thrown is not done',
    file: 'batch/verdict.ts',
    from: "return { kind: 'failed', why: 'threw', error: answer.error }",
    to: 'return DONE',
    focus: { ...STORM, shell: 'queue', recipe: 'errors' },
  },
  {
    name: 'a receipt in the transaction',
    file: 'engine/commit-preparation.ts',
    from: 'if (plan.receipt !== undefined)',
    to: 'if (plan.receipt === null)',
    focus: { recipe: 'commit' },
  },
  ...GROUPING_MUTANTS,
  ...VARIANT_MUTANTS,
]
