import type { FilterPattern, FilterTest } from '../template/filter-pattern.ts'

/** Whether a record passes one of the filters, or there are none. */
export function passesFilters(filters: readonly FilterPattern[], record: object): boolean {
  return filters.length === 0 || filters.some((filter) => matches(filter, record))
}

function matches(pattern: FilterPattern, value: unknown): boolean {
  return Object.entries(pattern).every(([field, expected]) => {
    const found = isObject(value) && Object.hasOwn(value, field) ? value[field] : undefined
    if (!isTests(expected)) return matches(expected, found)
    return expected.some((test) => passes(test, found))
  })
}

function passes(test: FilterTest, found: unknown): boolean {
  // Filters look at leaves: a map is as good as no value, and of a list any element may match.
  const leaves = (Array.isArray(found) ? found : [found]).filter((leaf) => leaf !== undefined && !isObject(leaf))
  switch (test.kind) {
    case 'exists':
      return leaves.length > 0 === test.exists
    case 'equals':
      return leaves.includes(test.value)
    case 'prefix':
      return leaves.some((leaf) => typeof leaf === 'string' && leaf.startsWith(test.prefix))
    case 'anything-but':
      return leaves.some((leaf) => !test.values.includes(leaf))
  }
}

function isTests(expected: FilterPattern | readonly FilterTest[]): expected is readonly FilterTest[] {
  return Array.isArray(expected)
}

function isObject(value: unknown): value is { readonly [field: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
