import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LambdaClient } from '@aws-sdk/client-lambda'
import { SQSClient } from '@aws-sdk/client-sqs'
import { connect } from '../../../lib/cli/connection.ts'
import { startConsole } from '../../../lib/cli/console/server.ts'
import type { Journal } from '../../../lib/cli/watch/journal.ts'
import { type WatchedTable, watchedTable } from '../../../lib/cli/watch/table.ts'
import { createWatch } from '../../../lib/cli/watch/watch.ts'
import { createSender } from '../../../lib/outbox/index.ts'
import { buildPage } from '../../package/page.ts'
import type { Roles } from '../job/roles.ts'
import type { StartOptions } from '../job/start-options.ts'
import type { LocalService } from '../local-service.ts'
import type { PaymentProvider } from '../payment-provider/start.ts'
import type { Platform } from '../platform/platform.ts'
import { createDemo } from './demo.ts'

/** What the demo's console works on. */
export interface DemoConsoleOptions {
  readonly options: StartOptions
  readonly platform: Platform
  readonly service: LocalService
  readonly provider: PaymentProvider
  readonly roles: Roles
  readonly journal: Journal
  readonly hints: readonly string[]
}

/** The demo's page. */
export interface DemoConsole {
  readonly url: string
  /** The buttons work from now on. */
  begin(): void
  stop(): Promise<void>
}

/** Builds the page and serves it, on the tables of the service that runs here. */
export async function startDemoConsole(parts: DemoConsoleOptions): Promise<DemoConsole> {
  const { options, platform, service, provider, roles, journal, hints } = parts
  const directory = join(options.root, '.local', 'console')
  await buildPage(directory)
  const worker = roles.functions.get('payments-worker')
  const workers = worker && platform.processesOf(worker.name)
  const demo = await createDemo({ service, roles, provider, workers, journal, hints, signal: options.signal })
  const { table, close } = tableOf(platform, roles.tables.operations)
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const { region } = service.model
  const sqs = new SQSClient({ endpoint: service.sqsEndpoint, region, credentials })
  const lambda = new LambdaClient({ endpoint: service.lambdaEndpoint, region, credentials })
  const console = await startConsole(
    {
      watch: createWatch(table, journal, true),
      allowWrites: options.consoleWrites,
      showValues: options.consoleValues,
      demo,
      sender: () => createSender({ sqs, lambda }),
    },
    pathToFileURL(`${directory}/`),
    0,
  )
  return Object.freeze({
    url: console.url,
    begin: demo.begin,
    async stop() {
      await console.close()
      sqs.destroy()
      lambda.destroy()
      close()
    },
  })
}

function tableOf(platform: Platform, tableName: string): { readonly table: WatchedTable; close(): void } {
  const { dynamoDbEndpoint: endpoint, store } = platform
  if (endpoint !== undefined || store === undefined) {
    const connection = connect({ table: tableName, ...(endpoint !== undefined && { endpoint }) }, {})
    return { table: watchedTable(connection), close: connection.close }
  }
  const table: WatchedTable = {
    tableName,
    endpoint: 'in memory',
    region: undefined,
    isLocal: true,
    store,
    readPage: async () => {
      const items = await platform.items(tableName)
      return { items: items.filter(({ sk }) => sk === 'op' || String(sk).startsWith('outbox#')), read: items.length }
    },
  }
  return { table, close: () => undefined }
}
