/**
 * A schema of any library that follows Standard Schema (Valibot, Zod, ArkType, …): the part of its interface used here.
 * https://standardschema.dev
 */
export interface StandardSchema<Output> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
  }
}

/** What a schema says of a value. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** Where a value is wrong. */
export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The paths of the issues, without their messages: those may quote the body, which must not get into a log. */
export function pathsOf(issues: readonly SchemaIssue[]): string {
  return issues.map(({ path = [] }) => ['$', ...path.map(segment)].join('.')).join(', ')
}

function segment(part: PropertyKey | { readonly key: PropertyKey }): string {
  return String(typeof part === 'object' ? part.key : part)
}
