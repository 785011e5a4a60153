import type { LambdaClient } from '@aws-sdk/client-lambda'
import type { OutgoingMessage, Route } from '../outgoing.ts'
import { connector, notInstalled, type SdkClient } from '../sdk-client.ts'

/** https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const MAX_BYTES = 1_048_576

/** Asynchronous invocation: the text is the event as it is. */
export function functionRoute(given: SdkClient | undefined): Route {
  const connect = connector(
    given,
    () => import('@aws-sdk/client-lambda').catch(notInstalled('@aws-sdk/client-lambda')),
    (sdk, settings): LambdaClient => new sdk.LambdaClient(settings),
  )
  return {
    maxMessages: 1,
    maxBytes: MAX_BYTES,
    batchKey: functionNameOf,
    async send(messages, signal) {
      const { client, sdk } = await connect()
      for (const message of messages) {
        const command = new sdk.InvokeCommand({
          FunctionName: functionNameOf(message),
          InvocationType: 'Event',
          Payload: message.text,
        })
        await client.send(command, signal && { abortSignal: signal })
      }
      return messages.map(() => ({ kind: 'sent' }))
    },
  }
}

function functionNameOf({ to }: OutgoingMessage): string {
  return 'functionName' in to ? to.functionName : ''
}
