import { playEmailSender } from './email-sender.ts'
import { playPaymentsApi } from './payments-api.ts'
import { playS3Ingestion } from './s3-ingestion.ts'
import { playSnsFanout } from './sns-fanout.ts'
import type { Play } from './stage.ts'
import { playTrialFlow } from './trial-flow.ts'
import { playWebhookReceiver } from './webhook-receiver.ts'

/** Every example, by the name of its file. */
export const PLAYS = {
  'payments-api': playPaymentsApi,
  'email-sender': playEmailSender,
  'sns-fanout': playSnsFanout,
  's3-ingestion': playS3Ingestion,
  'webhook-receiver': playWebhookReceiver,
  'trial-flow': playTrialFlow,
} satisfies Record<string, Play>

export type PlayName = keyof typeof PLAYS
