import { hash } from 'node:crypto'
import {
  type BatchExecuteStatementCommand,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  type PutItemCommand,
  type UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import type { Connection } from './connection.ts'
import { DESERIALIZER, SERIALIZER, watchClient } from './kept-client.ts'
import { emptyAnswerIn, refusalIn, statementAnswersIn, wireText } from './wire.ts'

/** The commands that each operation is made of. */
export type WriteCommand = PutItemCommand | UpdateItemCommand | BatchExecuteStatementCommand

/** The client that this write goes out by, at once: it may be the one by which its class is resolved. */
export type ClientFor = (command: WriteCommand) => DynamoDBClient

/** A connection whose writes take the short cuts, where its client allows it. */
export interface ShortConnection extends Connection {
  readonly clientFor: ClientFor
}

/** Looks at the client when the first command is sent: until then there need be none. */
export function withShortCuts(connection: Connection): ShortConnection {
  let ways: ClientFor | undefined
  return {
    ...connection,
    clientFor(command) {
      ways ??= shortCuts(connection.client())
      return ways(command)
    },
  }
}

/** The protocol under which the short cuts write and read, and the service's name in it. */
const PROTOCOL = 'aws.protocols#awsJson1_0'
const SERVICE = 'DynamoDB_20120810'

interface Operation {
  readonly name: string
  readonly namespace: unknown
  readonly traits: unknown
  readonly input: unknown
  readonly output: unknown
}
interface Request {
  path: string
}
interface Response {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  body: unknown
}
type HttpRequest = new (parts: object) => Request

/** What of the SDK's own way of writing and reading is needed. */
interface Protocol {
  getShapeId(): string
  getRequestType(): HttpRequest
  updateServiceEndpoint(request: Request, endpoint: unknown): unknown
  serializeRequest(operation: Operation, input: object, context: object): Promise<Request>
  deserializeResponse(operation: Operation, context: object, response: Response): Promise<object>
}
interface Config {
  readonly protocol: Protocol
  readonly streamCollector: (body: unknown) => Promise<Uint8Array>
}
interface Client {
  readonly config: Config
  readonly HttpRequest: HttpRequest
}

interface Context {
  readonly endpointV2?: unknown
  userAgent?: unknown
}
interface Args {
  readonly input: object
  readonly request?: Request
}
interface Answer {
  readonly response: Response
  readonly output?: object
}
type Next = (args: Args) => Promise<Answer>
type Middleware = (next: Next, context: Context) => Next

/**
 * The three short cuts of the writes that each operation is made of: its request is written as the JSON that it already
 * is; the answers that it nearly always gets, an empty one, a failed condition and those to a batch, are read without a
 * walk over the schema; and what the SDK resolves for a command's class is kept. All else is written and read as the SDK
 * does it. Endpoint, retries and signature stay as they are.
 *
 * A client that is not made as the SDK makes them today, or has middleware of its own, takes none of them.
 */
export function shortCuts(client: DynamoDBClient): ClientFor {
  const config: unknown = client.config
  if (!isKnown(config)) return () => client
  const known = { config, HttpRequest: config.protocol.getRequestType() }
  const copied = { ...config, cacheMiddleware: true }
  // The same client but for that: what it keeps is its own, and no command of others meets the short cuts.
  const short: DynamoDBClient = Object.create(client, {
    config: { value: copied },
    handlers: { value: undefined, writable: true, configurable: true },
  })
  const resolved = new Set<unknown>()
  const isAsKept = watchClient(client, copied)
  return (command) => {
    const operation = operationOf(command)
    if (operation === undefined || !isAsKept()) return client
    if (!resolved.has(command.constructor)) {
      const stack = command.middlewareStack as unknown as { add(middleware: Middleware, options: object): void }
      stack.add(serializing(known, operation), SERIALIZER)
      stack.add(deserializing(known, operation), DESERIALIZER)
      resolved.add(command.constructor)
    }
    return short
  }
}

function serializing({ config, HttpRequest }: Client, operation: Operation): Middleware {
  const { protocol } = config
  const target = `${SERVICE}.${operation.name}`
  return (next, context) => async (args) => {
    const { input } = args
    const { endpointV2 } = context
    // The context is kept with the chain, and some retry strategies add to this with every request.
    delete context.userAgent
    const text = endpointV2 === undefined ? undefined : wireText(input)
    if (text === undefined) {
      const endpoint = endpointV2 === undefined ? {} : { endpoint: async () => endpointV2 }
      const request = await protocol.serializeRequest(operation, input, { ...config, ...context, ...endpoint })
      return next({ ...args, request })
    }
    const request = new HttpRequest({
      method: 'POST',
      path: '/',
      query: {},
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': target,
        // The signer takes it from here, and would be slower in making it.
        'x-amz-content-sha256': hash('sha256', text, 'hex'),
      },
      body: text,
    })
    protocol.updateServiceEndpoint(request, endpointV2)
    if (!request.path.endsWith('/')) request.path += '/'
    return next({ ...args, request })
  }
}

function deserializing({ config }: Client, operation: Operation): Middleware {
  const { protocol, streamCollector } = config
  return (next, context) => async (args) => {
    const { response } = await next(args)
    try {
      const { body, statusCode } = response
      if (body && (statusCode === 200 || statusCode === 400)) {
        const bytes = body instanceof Uint8Array ? body : await streamCollector(body)
        // Read twice it would be empty.
        response.body = bytes
        const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
        if (statusCode === 200) {
          const output = operation.name === 'BatchExecuteStatement' ? statementAnswersIn(text) : emptyAnswerIn(text)
          if (output !== undefined) return { response, output: { ...output, ...metadataOf(response) } }
        } else {
          const refusal = refusalIn(text)
          if (refusal !== undefined) throw new ConditionalCheckFailedException({ ...refusal, ...metadataOf(response) })
        }
      }
      const output = await protocol.deserializeResponse(operation, { ...config, ...context }, response)
      return { response, output }
    } catch (error) {
      throw withResponse(error, response)
    }
  }
}

function metadataOf({ statusCode, headers }: Response): {
  readonly $metadata: { readonly httpStatusCode: number; readonly requestId?: string }
} {
  const requestId = headers['x-amzn-requestid']
  return { $metadata: { httpStatusCode: statusCode, ...(requestId !== undefined && { requestId }) } }
}

/** An error as the SDK's own middlewares look at it: retries read its status, and the signer the server's clock. */
function withResponse(error: unknown, response: Response): unknown {
  if (!(error instanceof Error)) return error
  Object.defineProperty(error, '$response', { value: response, configurable: true })
  return '$metadata' in error ? error : Object.assign(error, metadataOf(response))
}

/** The command's operation: 9 marks one, and its traits, input and output are the SDK's business. */
function operationOf({ schema }: { readonly schema?: unknown }): Operation | undefined {
  if (!Array.isArray(schema)) return undefined
  const [, namespace, name, traits, input, output]: readonly unknown[] = schema
  return typeof name === 'string' ? { namespace, name, traits, input, output } : undefined
}

function isKnown(config: unknown): config is Config {
  const { protocol, streamCollector }: { readonly protocol?: Partial<Protocol>; readonly streamCollector?: unknown } =
    Object(config)
  return (
    protocol?.getShapeId?.() === PROTOCOL &&
    [
      streamCollector,
      protocol.getRequestType,
      protocol.updateServiceEndpoint,
      protocol.serializeRequest,
      protocol.deserializeResponse,
    ].every((method) => typeof method === 'function')
  )
}
