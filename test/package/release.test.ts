import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../../infra/package/entries.ts'
import { type ReleaseFacts, releaseFaults } from '../../infra/package/release-faults.ts'

const ready: ReleaseFacts = {
  version: '1.2.0',
  changelog: '# Changelog\n\n## 1.2.0\n\n- More.\n',
  changes: '',
  tags: ['v1.2.0'],
  hasRepository: true,
  isMeant: true,
  canProve: true,
  unknownArguments: [],
}

describe('a release', () => {
  test('that has everything may be published', () => {
    expect(releaseFaults(ready)).toEqual([])
  })

  test.each<[string, Partial<ReleaseFacts>, RegExp]>([
    ['with changes that are not committed', { changes: ' M lib/index.ts' }, /not committed/],
    ['that the changelog does not know', { changelog: '## 1.1.0' }, /no section "## 1\.2\.0"/],
    ['of a commit without its tag', { tags: ['v1.1.0'] }, /no tag v1\.2\.0/],
    ['whose repository is not named', { hasRepository: false }, /names no repository/],
    ['from a machine that can prove nothing', { canProve: false }, /id-token: write/],
    ['with a misspelt argument', { unknownArguments: ['--pubish'] }, /takes --publish only; got --pubish/],
  ])('%s is refused', (_name, wrong, fault) => {
    expect(releaseFaults({ ...ready, ...wrong })).toEqual([expect.stringMatching(fault)])
  })

  test('that is only made ready needs neither tag, repository nor workflow', () => {
    expect(releaseFaults({ ...ready, isMeant: false, tags: [''], hasRepository: false, canProve: false })).toEqual([])
  })
})

describe('npm publish by hand', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }

  test('is refused before anything is sent', () => {
    const run = () => execFileSync('sh', ['-c', scripts.prepublishOnly ?? 'true'], { cwd: ROOT, stdio: 'pipe' })
    expect(run).toThrow(/npm run release -- --publish/)
  })
})
