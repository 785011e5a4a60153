import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'

/** A request as it goes out. */
export interface SentRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** An answer as it comes in. */
export interface GivenAnswer {
  readonly statusCode: number
  readonly body: unknown
}

export const APPLIED: GivenAnswer = { statusCode: 200, body: {} }

/** A client whose requests go nowhere: each gets the next answer, when it is there, and the last one for ever. */
export function answeringClient(
  answers: readonly (GivenAnswer | Promise<GivenAnswer>)[] = [APPLIED],
  options: DynamoDBClientConfig = {},
): { readonly client: DynamoDBClient; readonly sent: SentRequest[] } {
  const sent: SentRequest[] = []
  const client = new DynamoDBClient({
    endpoint: 'http://127.0.0.1:9',
    ...options,
    requestHandler: {
      async handle({ method, path, headers, body }: SentRequest & { readonly body: string | Uint8Array }) {
        const next = answers[sent.length] ?? answers.at(-1) ?? APPLIED
        sent.push({ method, path, headers: { ...headers }, text: Buffer.from(body).toString() })
        const { statusCode, body: answer } = await next
        const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
        return { response: { statusCode, headers: { 'x-amzn-requestid': 'request-1' }, body: Buffer.from(text) } }
      },
    } as unknown as NonNullable<DynamoDBClientConfig['requestHandler']>,
  })
  return { client, sent }
}
