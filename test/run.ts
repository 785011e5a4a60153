// `npm test`: the whole suite on the real engines, ending with one line that a person and a script can read.
import { parseCLI, type Reporter, startVitest } from 'vitest/node'
import { requireJava } from '../infra/local/engines/java.ts'

const count = { passed: 0, failed: 0, skipped: 0 }

const counter: Reporter = {
  onTestRunEnd(modules, unhandledErrors) {
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed' || state === 'failed') count[state] += 1
        else count.skipped += 1
      }
      // A file that could not be loaded and a suite whose hook failed have no failed test to show for it.
      if (module.errors().length > 0) count.failed += 1
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) count.failed += 1
    }
    count.failed += unhandledErrors.length
  },
}

process.exitCode = await run()

async function run(): Promise<number> {
  try {
    requireJava()
    const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)])
    const { reporter = ['default'], ...others } = options as typeof options & { reporter?: string[] }
    const vitest = await startVitest('test', filter, { ...others, watch: false, reporters: [...reporter, counter] })
    await vitest?.close()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    count.failed += 1
  }
  // vitest has its own reasons to fail (a hanging worker, a broken set-up) that no test carries.
  if (process.exitCode && count.failed === 0) count.failed = 1
  if (count.passed + count.failed === 0) console.error('no test ran')
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ''
  console.log(`${count.passed} passed, ${count.failed} failed${skipped}`)
  return count.failed > 0 || count.passed === 0 ? 1 : 0
}
