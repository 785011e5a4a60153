export { type MemoryStore, type MemoryStoreOptions, memoryStore } from '../memory/index.ts'
export { concurrently, type Together } from './concurrently.ts'
export { dynamoStreamEvent, type ItemChange } from './events/dynamo-stream.ts'
export { type EventBusOptions, eventBusEvent } from './events/event-bus.ts'
export { functionUrlEvent, httpApiEvent } from './events/http-api.ts'
export { type KafkaItem, kafkaEvent } from './events/kafka.ts'
export { type KinesisItem, kinesisEvent } from './events/kinesis.ts'
export { type AlbEventOptions, albEvent } from './events/load-balancer.ts'
export type { HttpEventOptions } from './events/request.ts'
export { restApiEvent } from './events/rest-api.ts'
export { type S3Change, s3Event } from './events/s3.ts'
export { type SnsNotification, snsEvent, snsInSqsEvent } from './events/sns.ts'
export { type SqsMessage, sqsEvent } from './events/sqs.ts'
export { NotIdempotentError, UnverifiableError } from './explorer/errors.ts'
export type { Expectation, VerifyOptions } from './explorer/options.ts'
export type { Build, HandlerUnderTest } from './explorer/sequence.ts'
export { type Verification, verifyIdempotent } from './explorer/verify.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export { type LambdaContextOptions, lambdaContext } from './lambda-context.ts'
export {
  type QueueDelivery,
  type QueueHandler,
  type Redelivered,
  type RedeliverOptions,
  redeliver,
} from './queue/redeliver.ts'
export type { InvocationEnd } from './queue/verdict.ts'
export type { EffectOptions, World, WorldIdempotencyOptions } from './world/world.ts'
