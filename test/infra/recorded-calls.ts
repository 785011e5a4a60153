import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'

/** The IAM actions of calls, by what they were on: `table` or `table/index/name`. */
export interface RecordedActions {
  /** Takes down what a call is authorised by. */
  add(command: string, input: object): void
  /** On this resource, sorted, each once. */
  on(resource: string): string[]
  /** Every resource there was a call on. */
  resources(): string[]
}

export function recordedActions(): RecordedActions {
  const byResource = new Map<string, Set<string>>()
  return {
    add(command, input) {
      for (const [resource, action] of actionsOf(command, input)) {
        byResource.set(resource, (byResource.get(resource) ?? new Set()).add(`dynamodb:${action}`))
      }
    },
    on: (resource) => [...(byResource.get(resource) ?? [])].sort(),
    resources: () => [...byResource.keys()].sort(),
  }
}

/** Has a client take down what it sends. */
export function record(client: DynamoDBClient): RecordedActions {
  const recorded = recordedActions()
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        recorded.add(String(commandName).replace('Command', ''), args.input)
        return next(args)
      },
    { step: 'initialize' },
  )
  return recorded
}

/** A way to the engine that takes down what goes through it, for clients of other processes. */
export async function recordingProxy(endpoint: string) {
  const recorded = recordedActions()
  const { hostname, port } = new URL(endpoint)
  const server = createServer((incoming, answer) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const body = Buffer.concat(chunks)
      recorded.add(String(incoming.headers['x-amz-target']).split('.')[1] ?? '', JSON.parse(body.toString()))
      const { url: path, method, headers } = incoming
      const forwarded = request({ hostname, port, path, method, headers }, (answered) => {
        answer.writeHead(answered.statusCode ?? 502, answered.headers)
        answered.pipe(answer)
      })
      forwarded.end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    recorded,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => new Promise((resolve) => server.close(resolve)),
  }
}

/** A transaction is authorised by each of its parts, and a batch of statements by each of them. */
function actionsOf(command: string, input: object): [resource: string, action: string][] {
  if (command === 'TransactWriteItems') {
    const members: object[] = Reflect.get(input, 'TransactItems')
    return members.flatMap((member) =>
      Object.entries(member).map(([kind, { TableName }]): [string, string] => [
        TableName,
        kind === 'ConditionCheck' ? 'ConditionCheckItem' : `${kind}Item`,
      ]),
    )
  }
  if (command === 'BatchExecuteStatement') {
    const statements: { Statement: string }[] = Reflect.get(input, 'Statements')
    return statements.map(({ Statement }) => {
      const [, verb = '', table = ''] = /^\s*(\w+)\s(?:INTO\s|.*?FROM\s)?\s*"([^"]+)"/is.exec(Statement) ?? []
      return [table, `PartiQL${verb[0]?.toUpperCase()}${verb.slice(1).toLowerCase()}`]
    })
  }
  if (command === 'BatchGetItem') {
    return Object.keys(Reflect.get(input, 'RequestItems')).map((table) => [table, command])
  }
  const index: unknown = Reflect.get(input, 'IndexName')
  const table = String(Reflect.get(input, 'TableName'))
  return [[typeof index === 'string' ? `${table}/index/${index}` : table, command]]
}
