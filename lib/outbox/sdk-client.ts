import { InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'

/** A client of the AWS SDK, version 3. Said by its shape, so that nobody needs the packages of services he does not use. */
export interface SdkClient {
  send(command: never, options?: { readonly abortSignal?: AbortSignal }): Promise<unknown>
}

/** By default a client waits for an answer without end; a relay has a shard waiting behind it. */
const PATIENCE = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
} as const

/** What a call needs: the client, and the package its commands come from. */
export interface Connection<C, M> {
  readonly client: C
  readonly sdk: M
}

/**
 * Loads a service's package, and makes a client where none was given, at the first call.
 *
 * @param load - the import, with `.catch(notInstalled(…))`, so that bundlers take a missing package for a warning
 */
export function connector<C, M>(
  given: SdkClient | undefined,
  load: () => Promise<M>,
  make: (sdk: M, settings: typeof PATIENCE) => C,
): () => Promise<Connection<C, M>> {
  let client = given as C | undefined
  return async () => {
    const sdk = await load()
    client ??= make(sdk, PATIENCE)
    return { client, sdk }
  }
}

/** Says what to install. */
export function notInstalled(name: string): (error: unknown) => never {
  return (error) => {
    const why = error instanceof Error ? ` (${error.message})` : ''
    throw new InvalidOptionError(
      `A message is to be sent with ${name}, which cannot be loaded${why}. Install it beside lambda-once.`,
    )
  }
}

/**
 * A client of the right service, or `undefined` when the option is not given.
 * @throws InvalidOptionError naming the option
 */
export function clientOption(name: string, value: unknown, serviceId: string): SdkClient | undefined {
  if (value === undefined) return undefined
  const found: unknown = Reflect.get(Object(Reflect.get(Object(value), 'config')), 'serviceId')
  const isOther = typeof found === 'string' && found !== serviceId
  if (typeof Reflect.get(Object(value), 'send') !== 'function' || isOther) {
    throw new InvalidOptionError(
      `${name} must be a client of @aws-sdk/client-${serviceId.toLowerCase()}; got ${isOther ? `one of ${found}` : show(value)}.`,
    )
  }
  return value as SdkClient
}
