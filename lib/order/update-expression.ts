/** A clause's keyword. Aliases and placeholders (`#set`, `:set`) are none, and no bare attribute may be called so. */
const KEYWORD = /(?<![#:.\w-])(?:SET|REMOVE|ADD|DELETE)(?=\s)/gi

/** The expression with more actions in a clause; each clause may occur only once. */
export function withActions(expression: string, clause: 'SET' | 'REMOVE', actions: readonly string[]): string {
  if (actions.length === 0) return expression
  const list = actions.join(', ')
  let placed = false
  const extended = expression.replace(KEYWORD, (keyword) => {
    if (keyword.toUpperCase() !== clause) return keyword
    placed = true
    return `${keyword} ${list},`
  })
  return placed ? extended : `${expression} ${clause} ${list}`.trim()
}

/** The top-level attributes that an update writes, by the names or aliases that stand in the expression. */
export function writtenPaths(expression: string): readonly string[] {
  return withoutArguments(expression)
    .split(KEYWORD)
    .flatMap((clause) => clause.split(','))
    .map((action) => /^\s*(#?[\w-]+)/.exec(action)?.[1])
    .filter((path) => path !== undefined)
}

/** Commas inside `list_append(…)` separate arguments, not actions. */
function withoutArguments(expression: string): string {
  const flat = expression.replace(/\([^()]*\)/g, '')
  return flat === expression ? flat : withoutArguments(flat)
}
