import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EXIT, type ExitCode, exitName } from '../exit.ts'
import { explain } from '../explain.ts'
import { answerApi, type ConsoleSettings } from './api.ts'

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
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Serves the page on this machine only. @throws the server's error when the port is taken */
export async function startConsole(settings: ConsoleSettings, page: URL, port: number): Promise<RunningConsole> {
  const secret = randomBytes(16).toString('base64url')
  const server = createServer((request, response) => {
    void serve(settings, page, secret, request, response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return Object.freeze({ url: `http://${hostOf(server)}/${secret}/`, close: () => close(server) })
}

function hostOf(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function serve(
  settings: ConsoleSettings,
  page: URL,
  secret: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', headers } = request
  const url = URL.parse(request.url ?? '', `http://${headers.host}`)
  const [, given, ...rest] = url?.pathname.split('/') ?? []
  const path = rest.join('/')
  // A name that somebody else's DNS points at this machine is not this page's, nor is a page from elsewhere that posts here.
  const isOurs = /^(127\.0\.0\.1|localhost):\d+$/.test(headers.host ?? '') && given === secret
  const isForeign = method !== 'GET' && headers['x-lambda-once'] === undefined
  if (url === null || !isOurs || isForeign) return send(response, 404, 'text/plain', 'There is nothing here.')
  if (path.startsWith('api/')) {
    const query = url.searchParams
    try {
      const answer = await answerApi(settings, { method, path: path.slice('api/'.length), query })
      send(response, 200, 'application/json', JSON.stringify(answer))
    } catch (error) {
      const { tableName, endpoint } = settings.connection
      const { exitCode, message } = explain(error, { tableName, endpoint })
      const body = JSON.stringify({ error: { code: exitName(exitCode), message } })
      send(response, statusOf(exitCode), 'application/json', body)
    }
    return
  }
  const file = path === '' ? 'index.html' : path
  const type = FILES[file]
  if (type === undefined || method !== 'GET') return send(response, 404, 'text/plain', 'There is nothing here.')
  send(response, 200, type, await readFile(new URL(file, page), 'utf8'))
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { ...HEADERS, 'content-type': type }).end(body)
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
