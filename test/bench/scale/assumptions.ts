/** Prices of one region; put in those of yours. */
export const PRICES = {
  region: 'us-east-1',
  asOf: 'November 2024, on-demand',
  writeUnitsPerMillion: 0.625,
  readUnitsPerMillion: 0.125,
  gigabyteMonth: 0.25,
} as const

/** What the page reckons with. Nothing here is measured. */
export const ASSUMED = {
  operationsPerSecond: 10_000,
  retentionSeconds: 86_400,
  /** How far TTL deletion lags behind `expiresAt`: AWS says within a few days. */
  ttlLagSeconds: 2 * 86_400,
  /** What the work on one record takes, in ms. */
  workMs: 50,
  /** What one request to a table nearby takes, in ms. */
  requestMs: 5,
  /** Records that a function works on at the same time. */
  concurrency: 10,
  /** What sending ten messages to a queue takes, in ms. */
  sendMs: 20,
} as const

/** What DynamoDB and Lambda give, as their documentation says. */
export const LIMITS = {
  /** @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput-scenarios.html */
  writeUnitsPerPartition: 1_000,
  /** What a new on-demand table serves at once. */
  writeUnitsOfNewTable: 4_000,
  /** Default quota of an on-demand table; raised on request. */
  writeUnitsOfTable: 40_000,
  /** What the bill for storage adds to each item. */
  bytesAddedToItem: 100,
  /** @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html */
  invocationsOfQueue: 1_000,
} as const

export const SECONDS_PER_MONTH: number = 30 * 86_400
