import { DynamoDBClient } from '@aws-sdk/client-dynamodb'

/** The steps that are taken over. */
export const SERIALIZER = { name: 'serializerMiddleware', step: 'serialize', override: true } as const
export const DESERIALIZER = { name: 'deserializerMiddleware', step: 'deserialize', override: true } as const

/** The steps of the SDK's own clients. */
const OWN_STEPS: ReadonlySet<string | undefined> = /* @__PURE__ */ new Set([
  SERIALIZER.name,
  DESERIALIZER.name,
  'loggerMiddleware',
  'contentLengthMiddleware',
  'getUserAgentMiddleware',
  'hostHeaderMiddleware',
  'recursionDetectionMiddleware',
  'retryMiddleware',
  'httpAuthSchemeMiddleware',
  'httpSigningMiddleware',
])

/** Parts of a configuration that users replace, and that a kept chain of steps would not follow. */
const REPLACEABLE = ['requestHandler', 'credentials', 'region', 'endpoint', 'logger', 'retryStrategy']

interface Step {
  readonly middleware: unknown
  readonly name: string | undefined
}

/**
 * Tells, whenever it is asked, whether a client is as the SDK makes them and still what was kept of it: nothing of its
 * configuration is another, and it has the SDK's steps and no other's. A step that is taken over changes its place among
 * those of others, which may change the body after it was hashed; and what is kept would not know of those that come
 * later.
 *
 * @param kept - the copy of its configuration
 */
export function watchClient(client: DynamoDBClient, kept: object): () => boolean {
  const { config } = client
  let own: readonly Step[] | undefined
  return () => {
    if (client.send !== DynamoDBClient.prototype.send || client.config !== config) return false
    if (!REPLACEABLE.every((part) => Reflect.get(config, part) === Reflect.get(kept, part))) return false
    const steps = stepsOf(client)
    own ??= areOwn(steps) ? steps : []
    return (
      steps.length === own.length && steps.every(({ middleware }, index) => middleware === own?.[index]?.middleware)
    )
  }
}

/** All steps, also those whose place is beside one that only commands have. */
function stepsOf({ middlewareStack }: DynamoDBClient): readonly Step[] {
  const steps: Step[] = []
  const add = (middleware: unknown, { name }: { readonly name?: string }) => void steps.push({ middleware, name })
  const stack = middlewareStack as unknown as { applyToStack(to: object): void }
  stack.applyToStack({ add, addRelativeTo: add, identifyOnResolve: () => false })
  return steps
}

function areOwn(steps: readonly Step[]): boolean {
  return steps.length === OWN_STEPS.size && steps.every(({ name }) => OWN_STEPS.has(name))
}
