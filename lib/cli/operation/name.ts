import { normalizeKey, normalizeScope, operationId } from '../../record/identity.ts'
import { CliFailure, EXIT } from '../exit.ts'

/** How an operation is named on the command line: by its id, or by what the id is made of. */
export interface NameOptions {
  readonly namespace?: string
  readonly scope?: readonly string[]
  readonly key?: readonly string[]
}

const ID = /^([\w./-]{1,64})#[\w-]{43}$/

/** The operation's id. @throws CliFailure saying what is missing, or what does not go together */
export function idOf(id: string | undefined, { namespace, scope, key }: NameOptions): string {
  if (id !== undefined) {
    if (key !== undefined || scope !== undefined) {
      throw new CliFailure(
        EXIT.usage,
        'Name the operation by its id, or by --namespace, --scope and --key; not by both.',
      )
    }
    namespaceOf(id)
    return id
  }
  if (namespace === undefined || key === undefined) {
    throw new CliFailure(
      EXIT.usage,
      'Which operation? Give its id ("payments#…", as logs and `lambda-once list` have it), or --namespace and --key, and --scope where the handler has one.',
    )
  }
  const [first] = key
  const normalized = normalizeKey(key.length === 1 ? first : key)
  if (normalized === undefined) throw new CliFailure(EXIT.usage, '--key is empty, and no operation has an empty key.')
  return operationId(namespace, normalizeScope(scope), normalized)
}

/** The namespace that an id begins with; `undefined` when it is no id. */
export function namespaceIn(id: string): string | undefined {
  return ID.exec(id)?.[1]
}

/** The same of an id that somebody gave. @throws CliFailure when it is none */
export function namespaceOf(id: string): string {
  const namespace = namespaceIn(id)
  if (namespace === undefined) {
    throw new CliFailure(
      EXIT.usage,
      `"${id}" is no operation id: that is a namespace, "#" and 43 characters, such as "payments#6Xr…". For a key say --namespace and --key.`,
    )
  }
  return namespace
}
