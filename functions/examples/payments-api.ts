import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import * as v from 'valibot'
import { type HttpAnswer, idempotentHttp, type OperationContext } from '../../lib/http/index.ts'
import { type Idempotency, RetryLater } from '../../lib/index.ts'

const ChargeRequestSchema = v.strictObject({
  amountCents: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000_000)),
  currency: v.picklist(['EUR', 'USD']),
  card: v.pipe(v.string(), v.nonEmpty(), v.maxLength(100)),
})
const BodySchema = v.pipe(v.string(), v.parseJson(), ChargeRequestSchema)

/** What a client wants to have charged. */
export type ChargeRequest = v.InferOutput<typeof ChargeRequestSchema>

/** What {@link paymentsApi} works with. */
export interface PaymentsApiOptions {
  readonly idempotency: Idempotency
  /** Charges a card at a network that does nothing twice under one key. */
  readonly charge: (
    request: ChargeRequest,
    idempotencyKey: string,
  ) => Promise<{ readonly id: string } | { readonly declined: string }>
}

type PaymentsApi = middy.MiddyfiedHandler<
  APIGatewayProxyEventV2,
  APIGatewayProxyStructuredResultV2,
  Error,
  Context & OperationContext
>

/**
 * `POST /v1/charges` as payment providers have it: an `Idempotency-Key` for each attempt to pay, the first answer for
 * every repetition (a declined card, too), and refusals in the API's own format.
 */
export function paymentsApi({ idempotency, charge }: PaymentsApiOptions): PaymentsApi {
  return middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(idempotentHttp({ idempotency, onRefused: inOwnFormat }))
    .handler(async ({ body }, { operation }) => {
      const parsed = v.safeParse(BodySchema, body)
      if (!parsed.success) {
        // Nothing has happened, so the corrected request may come under the same key.
        operation.release()
        return failure(400, 'invalid_request_error', parsed.issues.map(({ message }) => message).join('; '))
      }
      const result = await operation.step('charge', ({ idempotencyKey }) =>
        // Whatever the network did, the next try does it under the same key: 503, and the client comes again.
        charge(parsed.output, idempotencyKey).catch((cause) => {
          throw new RetryLater('The card network did not answer.', { cause })
        }),
      )
      if ('declined' in result) return failure(402, 'card_error', result.declined)
      return json(200, { id: result.id, object: 'charge', ...parsed.output, status: 'succeeded' })
    })
}

/** What lambda-once refuses, as the clients of this API expect to be refused. */
function inOwnFormat(answer: HttpAnswer): HttpAnswer {
  const { statusCode = 500, headers, body } = answer as APIGatewayProxyStructuredResultV2
  const { detail } = JSON.parse(body ?? '{}') as { readonly detail?: string }
  const isAboutTheKey = statusCode === 400 || statusCode === 409 || statusCode === 422
  const own = failure(statusCode, isAboutTheKey ? 'idempotency_error' : 'api_error', detail ?? '')
  return { ...own, headers: { ...headers, ...own.headers } } as HttpAnswer
}

function failure(statusCode: number, type: string, message: string): APIGatewayProxyStructuredResultV2 {
  return json(statusCode, { error: { type, message } })
}

function json(statusCode: number, value: unknown): APIGatewayProxyStructuredResultV2 {
  return { statusCode, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(value) }
}
