import type { Mutant } from './mutants.ts'
import type { Plan } from './plan.ts'

const BURST: Partial<Plan> = { shell: 'queue', isBurst: true, operations: 8, faultRate: 0.3, recipe: 'plain' }
const FILE = 'dynamodb/group/sending.ts'

/** What protects where writes go together. */
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
    from: 'if (existing !== undefined && stands(due.write, existing)) due.resolve({ applied: false, existing })',
    to: 'if (existing !== undefined && stands(due.write, existing)) due.resolve({ applied: true })',
    focus: BURST,
  },
]
