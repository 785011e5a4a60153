export { type MemoryStore, type MemoryStoreOptions, memoryStore } from '../memory/index.ts'
export { concurrently, type Together } from './concurrently.ts'
export { functionUrlEvent, httpApiEvent } from './events/http-api.ts'
export { type AlbEventOptions, albEvent } from './events/load-balancer.ts'
export type { HttpEventOptions } from './events/request.ts'
export { restApiEvent } from './events/rest-api.ts'
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
