import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { afterAll } from 'vitest'
import { buildPage } from '../../infra/package/page.ts'
import type { Connection } from '../../lib/cli/connection.ts'
import { connect } from '../../lib/cli/connection.ts'
import type { ConsoleSettings } from '../../lib/cli/console/api.ts'
import { type RunningConsole, startConsole } from '../../lib/cli/console/server.ts'
import type { About, LiveView, OfferedAct, OneOperation } from '../../lib/cli/console/wire.ts'
import { createJournal, type Journal } from '../../lib/cli/watch/journal.ts'
import { watchedTable } from '../../lib/cli/watch/table.ts'
import { createWatch } from '../../lib/cli/watch/watch.ts'
import { MAIN } from './set-up.ts'

/** The page, built beside the command line, as in the package. */
const PAGE = join(dirname(MAIN), 'page')
await buildPage(PAGE)
afterAll(() => rmSync(PAGE, { recursive: true, force: true }))

/** Starts the console as a process; answers its URL, and its exit code when it is told to end. */
export async function spawnConsole(...args: string[]) {
  const child = spawn(process.execPath, [MAIN, 'console', ...args])
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  const end = () => {
    child.kill('SIGTERM')
    return exited
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\S+/.exec(line)?.[0]
    if (url !== undefined) return { url, end }
  }
  throw new Error('the console ended without a URL')
}

/** A console in this process, on a table of the local engine. */
export interface TestConsole extends RunningConsole {
  readonly journal: Journal
  readonly connection: Connection
}

export async function consoleOn(
  endpoint: string,
  table: string,
  settings: Partial<ConsoleSettings> & { readonly hasEvents?: boolean } = {},
): Promise<TestConsole> {
  const { hasEvents = false, ...rest } = settings
  const connection = connect({ table, endpoint }, {})
  const journal = createJournal()
  const watch = createWatch(watchedTable(connection), journal, hasEvents)
  const running = await startConsole(
    { watch, allowWrites: false, showValues: false, ...rest },
    pathToFileURL(`${PAGE}/`),
    0,
  )
  return {
    ...running,
    journal,
    connection,
    close: async () => {
      await running.close()
      connection.close()
    },
  }
}

/** What a page asks of a console, asked by a test. */
export async function clientOf(url: string) {
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}api/${path}`, init)
    // biome-ignore lint/suspicious/noExplicitAny: an assertion on the answer says what it expects of it
    return { status: response.status, body: (await response.json().catch(() => undefined)) as any }
  }
  const about = (await ask('about')).body as About
  return {
    about,
    ask,
    tell: (path: string, body: unknown, token: string = about.token) =>
      ask(path, { method: 'POST', headers: { 'x-console-token': token }, body: JSON.stringify(body) }),
    one: async (id: string): Promise<OneOperation> => (await ask(`operation?${new URLSearchParams({ id })}`)).body,
    /** The first of what a page is told. */
    async view(query: Record<string, string | readonly string[]> = {}): Promise<LiveView> {
      const search = new URLSearchParams({ every: '1' })
      for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) search.append(name, one)
      const { body } = await fetch(`${url}api/live?${search}`)
      let text = ''
      for await (const chunk of body ?? []) {
        text += Buffer.from(chunk).toString('utf8')
        for (const line of text.split('\n\n').slice(0, -1)) {
          const view = JSON.parse(line.replace(/^data: /, '')) as LiveView
          if (view.reading === undefined && view.problem === undefined) continue
          return view
        }
      }
      throw new Error('the console told nothing')
    },
  }
}

export function actNamed(one: OneOperation, act: string): OfferedAct {
  const found = one.acts.find((offered) => offered.act === act)
  if (found === undefined) throw new Error(`not offered: ${act}`)
  return found
}
