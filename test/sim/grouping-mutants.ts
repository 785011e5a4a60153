import type { Mutant } from './mutants.ts'
import type { Plan } from './plan.ts'

const BURST: Partial<Plan> = { shell: 'queue', isBurst: true, operations: 8, faultRate: 0.3, recipe: 'plain' }
const FLOOD: Partial<Plan> = { shell: 'queue', isFlood: true, isBurst: true, operations: 32 }
/** Messages that come again, one by one. */
const AGAIN: Partial<Plan> = { shell: 'queue', isBurst: false, operations: 1, faultRate: 0.3, killRate: 0.4 }
/** Messages of one operation that come at once, and claims that arrive after a look has become untrue. */
const RACE: Partial<Plan> = {
  ...AGAIN,
  isBurst: true,
  isFifo: false,
  faultRate: 0.6,
  fates: ['applied-late', 'not-applied'],
}
const FILE = 'dynamodb/group/sending.ts'
const LOOK = 'dynamodb/looking-first.ts'

/** What protects where writes go together, and where a claim looks before it writes. */
export const GROUPING_MUTANTS: readonly Mutant[] = [
  {
    name: 'a statement that was left out is in doubt',
    file: FILE,
    from: "due.reject(new StoreError('DynamoDB left out the answer to a statement of a batch.', { retryable: true }))",
    to: 'due.resolve({ applied: true })',
    focus: BURST,
  },
  {
    name: 'a batch whose answer is lost is in doubt',
    file: FILE,
    from: 'for (const { reject } of group) reject(error)',
    to: 'for (const { resolve } of group) resolve({ applied: true })',
    focus: BURST,
  },
  {
    name: 'a statement that is refused for now was not carried out',
    file: FILE,
    from: 'again.push(due)',
    to: 'due.resolve({ applied: true })',
    focus: BURST,
  },
  {
    name: 'what stands against an insert is looked at',
    file: FILE,
    from: 'else if (stands(one.write, existing)) one.resolve({ applied: false, existing })',
    to: 'else if (stands(one.write, existing)) one.resolve({ applied: true })',
    focus: BURST,
  },
  {
    name: 'what nothing stands against is written, after a look at many',
    file: FILE,
    from: 'goOn(free)]',
    to: '...free.map(({ resolve }) => resolve({ applied: true }))]',
    focus: BURST,
  },
  {
    name: 'no write is left out of a split group',
    file: FILE,
    from: 'groups.map((group) => answering(',
    to: 'groups.slice(0, 1).map((group) => answering(',
    focus: { ...FLOOD, lease: 'fixed' },
  },
  {
    name: 'no more writes in a request than fit',
    file: FILE,
    from: 'others.size < size && ',
    to: '',
    focus: FLOOD,
  },
  {
    name: 'what counts as absent is replaced, after a look at many',
    file: FILE,
    from: 'goAlone(replacing)',
    to: '...replacing.map(({ resolve }) => resolve({ applied: true }))',
    focus: { ...BURST, recipe: 'errors' },
  },
  {
    name: 'what nothing stands against is written, after a look at one',
    file: LOOK,
    from: 'return put(record, condition)',
    to: "return condition.kind === 'absent' && condition.isLikelyTaken ? { applied: true } : put(record, condition)",
    focus: AGAIN,
  },
  {
    name: 'what a look has seen stands against the claim',
    file: LOOK,
    from: 'return { applied: false, existing }',
    to: 'return { applied: true }',
    focus: AGAIN,
  },
  {
    name: 'a look is no lock',
    file: LOOK,
    from: 'return put(record, condition)',
    to: `const later = { nowMs: Number.MAX_SAFE_INTEGER, clockSkewMs: 0 }
    const isSure = condition.kind === 'absent' && condition.isLikelyTaken
    return put(record, isSure ? { ...condition, moment: later } : condition)`,
    focus: { ...RACE, recipe: 'plain' },
  },
]
