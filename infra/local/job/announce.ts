import { relative } from 'node:path'
import pc from 'picocolors'
import type { LocalService } from '../local-service.ts'
import type { LocalQueue } from '../template/model.ts'
import type { Roles } from './roles.ts'
import type { StartOptions } from './start-options.ts'

/**
 * A provider on a bad day: slow now and then, sometimes away, sometimes silent after it has charged, or not sure yet. In a
 * short run it is so more often, since there has to be a pending charge in each.
 */
export function badDay({ orders }: Pick<StartOptions, 'orders'>): {
  readonly latencyMs: number
  readonly unavailableChance: number
  readonly lostAnswerChance: number
  readonly pendingShare: number
} {
  return { latencyMs: 150, unavailableChance: 0.04, lostAnswerChance: 0.03, pendingShare: orders < 50 ? 0.5 : 0.15 }
}
// Enough for the worker to be over (and its lease with it) before a message comes again, and short enough to watch.
const VISIBILITY_OVER_TIMEOUT_SECONDS = 3

/** Says why the service runs in this one process, and what that leaves out. */
export function announceLimits(reason: string): void {
  console.log(pc.yellow(reason))
  console.log(
    pc.yellow(
      'So the functions run in this one process, on the in-memory store. Left out: kills of real processes, takeovers after a kill, the reconciler, the real DynamoDB. In place of the outbox relay a loop sends what commits have written.',
    ),
  )
}

/** Says what runs, where it differs from the template, and what is made to go wrong. */
export function announce(options: StartOptions, roles: Roles, service: LocalService): void {
  const { model, leftOut } = service
  const where = relative(process.cwd(), options.logDirectory)
  console.log(`running the synthesized template: ${service.apiEndpoint}, logs in ${where}`)
  if (leftOut.length > 0) {
    console.log(pc.yellow(`left out, because it needs DynamoDB or processes of its own: ${leftOut.join('; ')}`))
  }
  for (const { queueArn, functionName } of model.queueMappings) {
    const queue = roles.workedQueues.find(({ arn }) => arn === queueArn)
    const worker = model.functions.find(({ name }) => name === functionName)
    if (!queue || !worker) continue
    const seconds = receivedVisibility(options, queue, worker.timeoutSeconds)
    if (seconds === queue.visibilitySeconds) continue
    console.log(
      `unlike the template: messages of ${queue.name} are received with a visibility of ${seconds} s instead of ${queue.visibilitySeconds} s, so that redeliveries come while you watch`,
    )
  }
  for (const { functionName, everySeconds } of model.schedules) {
    if (everySeconds === options.scheduleEverySeconds) continue
    console.log(
      `unlike the template: ${functionName} runs every ${options.scheduleEverySeconds} s instead of every ${everySeconds} s`,
    )
  }
  console.log('made to go wrong:')
  for (const text of wrongs(options)) console.log(`  ${text}`)
  if (options.kills > 0) {
    console.log(`  ${options.kills} processes are killed in the middle of their work: ${options.killParts.join(', ')}`)
  }
}

/** What is made to go wrong, kills apart: one sentence each. */
export function wrongs(options: Pick<StartOptions, 'orders'>): readonly string[] {
  const percent = (share: number): string => `${Math.round(100 * share)}%`
  const { unavailableChance, lostAnswerChance, pendingShare } = badDay(options)
  return [
    "every message's first deletion is lost, and a poisoned message comes until it is dead",
    `the payment provider is away ${percent(unavailableChance)} of the time, loses ${percent(lostAnswerChance)} of its answers, and confirms ${percent(pendingShare)} of its charges later, by callbacks that come twice or more, in any order`,
  ]
}

/** The visibility that a queue's messages are received with, in seconds. */
export function receivedVisibility(
  { visibilitySeconds }: StartOptions,
  queue: LocalQueue,
  functionTimeoutSeconds: number,
): number {
  return (
    visibilitySeconds ?? Math.min(queue.visibilitySeconds, functionTimeoutSeconds + VISIBILITY_OVER_TIMEOUT_SECONDS)
  )
}
