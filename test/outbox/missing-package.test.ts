import { SQSClient } from '@aws-sdk/client-sqs'
import { expect, test, vi } from 'vitest'
import { createSender, type OutboxTarget } from '../../lib/outbox/index.ts'
import { startScriptedServer } from '../retry/http-server.ts'

vi.mock('@aws-sdk/client-sns', () => {
  throw new Error('Cannot find package')
})

test('the package of a service is needed by its first message, not before, and by no other service', async () => {
  const server = await startScriptedServer([
    { status: 200, body: JSON.stringify({ Failed: [{ Id: '0', Code: 'InternalError' }] }) },
  ])
  const { send } = createSender({ sqs: new SQSClient({ endpoint: server.url, maxAttempts: 1 }) })
  const message = (to: OutboxTarget) => ({ messageId: 'm', operationId: 'o', to, text: 'x', attributes: {} })
  const results = await send([
    message({ topicArn: 'arn:aws:sns:eu-central-1:111122223333:orders' }),
    message({ queueUrl: 'https://sqs.eu-central-1.amazonaws.com/111122223333/emails' }),
  ])
  await server.stop()

  expect(results).toMatchObject([
    {
      // An operator can put that right: the message stays where it is until then.
      kind: 'failed',
      error: { code: 'INVALID_OPTION', message: expect.stringContaining('Install it beside lambda-once.') },
    },
    { kind: 'failed', error: { name: 'InternalError' } },
  ])
  expect(server.requests).toHaveLength(1)
})
