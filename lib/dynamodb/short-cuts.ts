import { hash } from 'node:crypto'
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  type PutItemCommand,
  type UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { fromWire, wireText } from './wire.ts'

/** The commands that each operation is made of. */
export type WriteCommand = PutItemCommand | UpdateItemCommand

/** Lets a command take the short cuts, where its client allows it. */
export type Shorten = <C extends WriteCommand>(command: C) => C

/** The protocol under which the short cuts write and read, and the service's name in it. */
const PROTOCOL = 'aws.protocols#awsJson1_0'
const SERVICE = 'DynamoDB_20120810'

/** The answer to a write that was applied. */
const EMPTY = '{}'

const SERIALIZER = { name: 'serializerMiddleware', step: 'serialize', override: true } as const
const DESERIALIZER = { name: 'deserializerMiddleware', step: 'deserialize', override: true } as const

type Attributes = Record<string, AttributeValue>

interface Refused {
  readonly __type?: string
  readonly message?: string
  readonly Message?: string
  readonly Item?: Attributes
}

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
 * The two short cuts of the writes that each operation is made of: its request is written as the JSON that it already
 * is, and the answers that it nearly always gets, an empty one and a failed condition, are read without a walk over the
 * schema. All else is written and read as the SDK does it. Endpoint, retries, signature and whatever middleware the
 * client has stay as they are, and see the whole input.
 *
 * A client that is not made as the SDK makes them today takes no short cut.
 */
export function shortCuts(client: DynamoDBClient): Shorten {
  const config: unknown = client.config
  if (!isKnown(config) || !hasKnownSteps(client)) return (command) => command
  const known = { config, HttpRequest: config.protocol.getRequestType() }
  const made = new Map<unknown, readonly [Middleware, Middleware]>()
  return (command) => {
    const operation = operationOf(command)
    if (operation === undefined) return command
    // By the command's class, since a client may keep what it resolved for one: nothing here is of one request.
    const pair = made.get(command.constructor) ?? [serializing(known, operation), deserializing(known, operation)]
    made.set(command.constructor, pair)
    const stack = command.middlewareStack as unknown as { add(middleware: Middleware, options: object): void }
    stack.add(pair[0], SERIALIZER)
    stack.add(pair[1], DESERIALIZER)
    return command
  }
}

function serializing({ config, HttpRequest }: Client, operation: Operation): Middleware {
  const { protocol } = config
  const target = `${SERVICE}.${operation.name}`
  return (next, context) => async (args) => {
    const { input } = args
    const { endpointV2 } = context
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
      if (statusCode === 200 || statusCode === 400) {
        const bytes = body instanceof Uint8Array ? body : await streamCollector(body)
        // Read twice it would be empty.
        response.body = bytes
        if (statusCode === 200 && bytes.length === EMPTY.length) return { response, output: metadataOf(response) }
        const refusal = statusCode === 400 ? refusalIn(bytes) : undefined
        if (refusal !== undefined) throw new ConditionalCheckFailedException({ ...refusal, ...metadataOf(response) })
      }
      const output = await protocol.deserializeResponse(operation, { ...config, ...context }, response)
      return { response, output }
    } catch (error) {
      throw withResponse(error, response)
    }
  }
}

/** What a failed condition has to say; `undefined` for every other error. */
function refusalIn(bytes: Uint8Array): { readonly message: string; readonly Item?: Attributes } | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
  if (!text.includes('ConditionalCheckFailedException')) return undefined
  const { __type, message, Message, Item } = JSON.parse(text) as Refused
  if (__type?.endsWith('#ConditionalCheckFailedException') !== true) return undefined
  return { message: message ?? Message ?? 'The conditional request failed', ...(Item && { Item: fromWire(Item) }) }
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

/** Whether the two steps are where they would be taken over, so that nothing is written or read twice. */
function hasKnownSteps({ middlewareStack }: DynamoDBClient): boolean {
  const steps = middlewareStack.identify()
  return [SERIALIZER, DESERIALIZER].every(({ name, step }) => steps.includes(`${name} - ${step}`))
}

function isKnown(config: unknown): config is Config {
  if (typeof config !== 'object' || config === null) return false
  const { protocol, streamCollector }: { readonly protocol?: Partial<Protocol>; readonly streamCollector?: unknown } =
    config
  return (
    typeof streamCollector === 'function' &&
    protocol?.getShapeId?.() === PROTOCOL &&
    [
      protocol.getRequestType,
      protocol.updateServiceEndpoint,
      protocol.serializeRequest,
      protocol.deserializeResponse,
    ].every((method) => typeof method === 'function')
  )
}
