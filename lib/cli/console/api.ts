import type { IncomingMessage, ServerResponse } from 'node:http'
import { createSender, type Sender } from '../../outbox/sender.ts'
import { CliFailure, EXIT } from '../exit.ts'
import { namespaceOf } from '../operation/name.ts'
import { readOperation } from '../operation/read.ts'
import type { Viewing } from '../operation/view.ts'
import type { Watch } from '../watch/watch.ts'
import { actRequest, carryOut, type Shown } from './acts.ts'
import { DEMO_ACTIONS, type Demo } from './demo.ts'
import type { Live } from './live.ts'
import { liveQuery } from './live-view.ts'
import { oneOperation } from './one.ts'
import type { About } from './wire.ts'

/** What the console works on, and what it may do. */
export interface ConsoleSettings {
  readonly watch: Watch
  readonly allowWrites: boolean
  readonly showValues: boolean
  /** Makes what sends messages. @defaultValue the clients of AWS, as the environment says */
  readonly sender?: () => Sender
  /** A service on this machine, with buttons. */
  readonly demo?: Demo
}

/** What answers the page. */
export interface Api {
  readonly settings: ConsoleSettings
  readonly live: Live
  readonly shown: Shown
  readonly token: string
}

/** One request of the page. */
export interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly message: IncomingMessage
}

const MOST_BODY_BYTES = 1_000_000
const LEAST_PAUSE_SECONDS = 1

/** Keeps the page told, until it goes. */
export function openLive({ live }: Api, query: URLSearchParams, response: ServerResponse): void {
  const every = Number(query.get('every') ?? 0)
  const everyMs = every > 0 ? Math.max(LEAST_PAUSE_SECONDS, every) * 1000 : 0
  live.open(response, liveQuery(query), everyMs)
}

/** Answers one request of the page. @throws CliFailure, and what the SDK throws */
export async function answerApi(api: Api, { method, path, query, message }: ApiRequest): Promise<unknown> {
  const { settings, live } = api
  const { store } = settings.watch.table
  const viewing: Viewing = { store, showValues: settings.showValues, nowMs: Date.now() }
  switch (`${method} ${path}`) {
    case 'GET about':
      return about(api)
    case 'GET operation':
      return oneOperation(settings.watch, settings.demo, viewing, settings.allowWrites ? api.shown : undefined, query)
    case 'POST read':
      await live.read()
      return {}
    case 'POST act':
      return { result: await act(api, viewing, await bodyOf(message)) }
    case 'POST demo':
      return play(api, await bodyOf(message))
    default:
      throw new CliFailure(EXIT.usage, 'There is no such page.')
  }
}

function about({ settings: { watch, allowWrites, showValues, demo }, token }: Api): About {
  const { tableName, endpoint, region, isLocal } = watch.table
  return {
    table: tableName,
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
    isLocal,
    allowWrites,
    showValues,
    isDemo: demo !== undefined,
    hasEvents: watch.hasEvents,
    token,
  }
}

async function act({ settings, live, shown }: Api, { store, nowMs }: Viewing, body: unknown): Promise<string> {
  if (!settings.allowWrites) {
    throw new CliFailure(EXIT.refused, 'This console only reads. Start it with --allow-writes.')
  }
  const request = actRequest(body)
  namespaceOf(request.id)
  const found = await readOperation(store, request.id, {})
  const { sender = createSender } = settings
  const result = await carryOut({ store, shown, sender }, found, request, nowMs)
  await live.read()
  return result
}

function play({ settings: { demo } }: Api, body: unknown): unknown {
  const wanted: unknown = Reflect.get(Object(body), 'action')
  const action = DEMO_ACTIONS.find((name) => name === wanted)
  if (demo === undefined || action === undefined) throw new CliFailure(EXIT.usage, 'There is no such button.')
  demo.act(action)
  return {}
}

async function bodyOf(message: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message) {
    size += (chunk as Buffer).byteLength
    if (size > MOST_BODY_BYTES) throw new CliFailure(EXIT.usage, 'That is too much for a page. Use the command line.')
    chunks.push(chunk as Buffer)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown
  } catch {
    throw new CliFailure(EXIT.usage, 'The page sent no JSON. Load it again.')
  }
}
