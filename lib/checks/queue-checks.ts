import type { Check } from './check.ts'
import { EVENT_SOURCE_CHECKS } from './event-source-checks.ts'
import { below, type QueueFacts } from './queue-facts.ts'
import { LONGEST_RETENTION_SECONDS, longestRedeliverySeconds } from './redelivery.ts'

/** Lambda's advice for a queue that feeds a function. */
export const VISIBILITY_PER_TIMEOUT = 6
/** AWS's advice: throttled polls count as receives too, and fewer send sound messages to the dead letters. */
export const ADVISED_RECEIVE_COUNT = 5
const invisible = ({ functionTimeoutSeconds, batchingWindowSeconds = 0 }: QueueFacts): number | undefined =>
  functionTimeoutSeconds === undefined
    ? undefined
    : VISIBILITY_PER_TIMEOUT * functionTimeoutSeconds + batchingWindowSeconds

/** Everything that is refused or warned of where a queue feeds a function. */
export const QUEUE_CHECKS: readonly Check<QueueFacts>[] = [
  {
    id: 'visibility-below-timeout',
    severity: 'refused',
    about: "visibility timeout below the function's timeout",
    find: (facts) =>
      below(facts.visibilitySeconds, facts.functionTimeoutSeconds)
        ? `The visibility timeout (${facts.visibilitySeconds} s) is shorter than the function's timeout (${facts.functionTimeoutSeconds} s): SQS delivers a message again while it is still being worked on. Set visibilityTimeout to ${invisible(facts)} s, or the function's timeout to less.`
        : undefined,
  },
  {
    id: 'visibility-below-six-timeouts',
    severity: 'warned',
    about: "visibility timeout below six times the function's timeout plus the batching window",
    find: (facts) =>
      below(facts.visibilitySeconds, invisible(facts)) && !below(facts.visibilitySeconds, facts.functionTimeoutSeconds)
        ? `The visibility timeout (${facts.visibilitySeconds} s) is less than six times the function's timeout plus the batching window (${invisible(facts)} s): when the function is throttled, messages come again before they were worked on. Set visibilityTimeout to ${invisible(facts)} s.`
        : undefined,
  },
  {
    id: 'lease-beyond-visibility',
    severity: 'refused',
    about: 'lease longer than the visibility timeout',
    find: ({ leaseSeconds, visibilitySeconds }) =>
      below(visibilitySeconds, leaseSeconds)
        ? `The lease (${leaseSeconds} s) is longer than the visibility timeout (${visibilitySeconds} s): after a crash every redelivery meets the running lease, fails and uses up a receive. Set visibilityTimeout to at least ${leaseSeconds} s, or the lease to at most ${visibilitySeconds} s.`
        : undefined,
  },
  {
    id: 'retention-below-redelivery',
    severity: 'refused',
    about:
      'record retention below the longest possible redelivery (outbox, queue, dead letters, and once more the queue)',
    find: (facts) => {
      const { recordRetentionSeconds, queueRetentionSeconds, deadLetters, fifo, outboxSeconds } = facts
      const deadLetterRetentionSeconds = deadLetters.kind === 'known' ? (deadLetters.retentionSeconds ?? 0) : 0
      if (queueRetentionSeconds === undefined) return undefined
      const longest = longestRedeliverySeconds({
        fifo,
        queueRetentionSeconds,
        deadLetterRetentionSeconds,
        outboxSeconds,
      })
      return below(recordRetentionSeconds, longest)
        ? `A record protects for ${recordRetentionSeconds} s, but a message can come again for ${longest} s (queue ${queueRetentionSeconds} s, dead letters ${deadLetterRetentionSeconds} s, outbox ${outboxSeconds} s): what was done would be done again. Leave the table's retention out, and it is computed; or set it to at least ${longest} s.`
        : undefined
    },
  },
  {
    id: 'no-dead-letters',
    severity: 'refused',
    about: 'queue without a dead-letter queue',
    find: ({ deadLetters, queueRetentionSeconds }) =>
      deadLetters.kind === 'none'
        ? `The queue has no dead-letter queue (0 receives are counted): a message that can never be worked off comes again until its retention (${queueRetentionSeconds ?? 'unknown'} s) is over, and is then lost. Give it one, with a maxReceiveCount of ${ADVISED_RECEIVE_COUNT}.`
        : undefined,
  },
  {
    id: 'dead-letters-not-kept-longer',
    severity: 'refused',
    about: "dead letters kept no longer than the source's messages (FIFO: shorter)",
    find: ({ deadLetters, queueRetentionSeconds, fifo }) => {
      if (deadLetters.kind !== 'known' || deadLetters.retentionSeconds === undefined) return undefined
      if (queueRetentionSeconds === undefined) return undefined
      const kept = deadLetters.retentionSeconds
      const tooShort = fifo ? kept < queueRetentionSeconds : kept <= queueRetentionSeconds
      return tooShort
        ? `The dead-letter queue keeps messages for ${kept} s, the source for ${queueRetentionSeconds} s: ${fifo ? 'a failed message is gone sooner than a waiting one' : 'a standard queue counts from when the message was first sent, so that it can be deleted as soon as it arrives'}. Set the dead letters' retention to more, up to 1209600 s (14 days), or the source's to less.`
        : undefined
    },
  },
  {
    id: 'dead-letters-of-other-type',
    severity: 'refused',
    about: 'FIFO queue with a standard dead-letter queue, or the other way round',
    find: ({ deadLetters, fifo }) =>
      deadLetters.kind === 'known' && deadLetters.fifo !== fifo
        ? `The queue is ${fifo ? 'FIFO' : 'standard'}, its dead-letter queue is ${deadLetters.fifo ? 'FIFO' : 'standard'}: SQS refuses that at deployment. Make both of one type.`
        : undefined,
  },
  {
    id: 'few-receives',
    severity: 'warned',
    about: 'maxReceiveCount below 5',
    find: ({ deadLetters }) =>
      deadLetters.kind === 'known' && below(deadLetters.maxReceiveCount, ADVISED_RECEIVE_COUNT)
        ? `The maxReceiveCount is ${deadLetters.maxReceiveCount}, below the advised ${ADVISED_RECEIVE_COUNT}: a few throttled polls, or one running lease met, send a sound message to the dead letters. Set maxReceiveCount to ${ADVISED_RECEIVE_COUNT} or more.`
        : undefined,
  },
  ...EVENT_SOURCE_CHECKS,
  {
    id: 'permissions-not-granted',
    severity: 'warned',
    about: 'a consumer imported without its role, which can be granted nothing',
    find: ({ consumerHasRole }) =>
      consumerHasRole
        ? undefined
        : 'The consumer is imported without its role, so that it was granted 0 of the 2 things it needs: the queue and the table. Import it with its role, or grant them where the role is made.',
  },
  {
    id: 'numbers-not-known',
    severity: 'warned',
    about: 'numbers of an imported queue or function that nobody has stated, or that are known only at deployment',
    find: ({ visibilitySeconds, queueRetentionSeconds, functionTimeoutSeconds, deadLetters }) => {
      const unknown = [
        ...(visibilitySeconds === undefined ? ['visibilityTimeout'] : []),
        ...(queueRetentionSeconds === undefined ? ['retentionPeriod'] : []),
        ...(functionTimeoutSeconds === undefined ? ['consumerTimeout'] : []),
        ...(deadLetters.kind === 'unknown' ||
        (deadLetters.kind === 'known' && deadLetters.retentionSeconds === undefined)
          ? ['deadLetterRetentionPeriod']
          : []),
      ]
      return unknown.length > 0
        ? `${unknown.length} of 4 numbers of the queue and its function are not known here (${unknown.join(', ')}), so that the checks about them are off, and a computed retention takes SQS's longest (${LONGEST_RETENTION_SECONDS} s) in their place. State those of an imported queue or function as properties, and set none by a token.`
        : undefined
    },
  },
]
