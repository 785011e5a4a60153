/** What is known before a release. */
export interface ReleaseFacts {
  readonly version: string
  readonly changelog: string
  /** As `git status --porcelain` says it: empty for a clean tree. */
  readonly changes: string
  /** Tags of the commit that is checked out. */
  readonly tags: readonly string[]
  readonly hasRepository: boolean
  /** Whether it is to be published, and not only made ready. */
  readonly isMeant: boolean
  /** Whether this runs in a workflow that may ask for an identity token. */
  readonly canProve: boolean
  readonly unknownArguments: readonly string[]
}

/** What stands against a release; empty: nothing. */
export function releaseFaults(facts: ReleaseFacts): readonly string[] {
  const { version, isMeant } = facts
  return [
    ...facts.unknownArguments.map((argument) => `It takes --publish only; got ${argument}.`),
    ...(facts.changes === ''
      ? []
      : ['The tree has changes that are not committed: what is published must be in the history.']),
    ...(facts.changelog.includes(`## ${version}`) ? [] : [`CHANGELOG.md has no section "## ${version}".`]),
    ...(isMeant && !facts.tags.includes(`v${version}`) ? [`The commit has no tag v${version}.`] : []),
    ...(isMeant && !facts.hasRepository
      ? ['package.json names no repository, which the registry compares with where the package was built.']
      : []),
    ...(isMeant && !facts.canProve
      ? ['It can be published only from a GitHub workflow with "id-token: write", where its provenance can be proven.']
      : []),
  ]
}
