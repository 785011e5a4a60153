import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EXIT, type ExitCode, exitName } from '../exit.ts'
import { explain } from '../explain.ts'
import { createShown } from './acts.ts'
import { type Api, answerApi, type ConsoleSettings, openLive } from './api.ts'
import { isFromPage, type Own } from './guard.ts'
import { createLive } from './live.ts'

/** A console that is running. */
export interface RunningConsole {
  /** Holds a secret of this run: other users of the machine cannot guess it. */
  readonly url: string
  close(): Promise<void>
}

/** The page's files, and what they are. */
const FILES: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'console.js': 'text/javascript; charset=utf-8',
  'console.css': 'text/css; charset=utf-8',
}

const HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    'img-src data:',
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    // Nothing of the table can become markup, not even by a mistake of the page: only its own templates may.
    "require-trusted-types-for 'script'",
    'trusted-types lit-html',
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/**
 * Serves the page on this machine only.
 *
 * @param page - the folder with the page's files, built
 * @throws the server's error when the port is taken
 */
export async function startConsole(settings: ConsoleSettings, page: URL, port: number): Promise<RunningConsole> {
  const [secret, token] = [randomBytes(16), randomBytes(16)].map((bytes) => bytes.toString('base64url'))
  const { watch, demo } = settings
  const live = createLive(watch, demo, (error) => explain(error, watch.table).message)
  const api: Api = { settings, live, shown: createShown(), token: token ?? '' }
  const server = createServer((request, response) => {
    const own: Own = { port: portOf(server), secret: secret ?? '', token: api.token }
    serve(api, own, page, request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return Object.freeze({
    url: `http://127.0.0.1:${portOf(server)}/${secret}/`,
    async close() {
      live.close()
      await close(server)
    },
  })
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

async function serve(api: Api, own: Own, page: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', headers } = request
  const url = URL.parse(request.url ?? '', 'http://console')
  const [, secret = '', ...rest] = url?.pathname.split('/') ?? []
  const path = rest.join('/')
  const isOurs = isFromPage(
    {
      method,
      host: headers.host,
      origin: headers.origin,
      site: one(headers['sec-fetch-site']),
      destination: one(headers['sec-fetch-dest']),
      secret,
      token: one(headers['x-console-token']),
    },
    own,
  )
  if (url === null || !isOurs) return send(response, 404, 'text/plain', 'There is nothing here.')
  if (path === 'api/live' && method === 'GET') {
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' })
    return openLive(api, url.searchParams, response)
  }
  if (path.startsWith('api/')) {
    const asked = { method, path: path.slice('api/'.length), query: url.searchParams, message: request }
    return answer(api, asked, response)
  }
  const file = path === '' ? 'index.html' : path
  const type = FILES[file]
  if (type === undefined || method !== 'GET') return send(response, 404, 'text/plain', 'There is nothing here.')
  const text = await readFile(new URL(file, page), 'utf8').catch(() => undefined)
  if (text === undefined) return send(response, 500, 'text/plain', 'The page was not built. Run `npm run build`.')
  send(response, 200, type, text)
}

async function answer(api: Api, asked: Parameters<typeof answerApi>[1], response: ServerResponse): Promise<void> {
  try {
    send(response, 200, 'application/json', JSON.stringify(await answerApi(api, asked)))
  } catch (error) {
    const { exitCode, message } = explain(error, api.settings.watch.table)
    const body = JSON.stringify({ error: { code: exitName(exitCode), message } })
    send(response, statusOf(exitCode), 'application/json', body)
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { ...HEADERS, 'content-type': type }).end(body)
}

function one(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0]
}

function statusOf(exitCode: ExitCode): number {
  switch (exitCode) {
    case EXIT.usage:
      return 400
    case EXIT.notFound:
      return 404
    case EXIT.refused:
      return 409
    default:
      return 502
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
