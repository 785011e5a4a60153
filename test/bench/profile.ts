import { type Profiler, Session } from 'node:inspector/promises'

/** Who spends CPU time on an operation. */
export const SPENDERS = [
  'the toolkit, or what is written by hand',
  'libraries of the toolkit',
  'the AWS SDK',
  'Node.js: HTTP and sockets',
  'Node.js: cryptography',
  'Node.js: promises, timers and the rest',
  'garbage collection',
] as const
export type Spender = (typeof SPENDERS)[number]

/** CPU time in ms, by who spent it. */
export type Spending = Readonly<Record<Spender, number>>

/** Often enough that a part of 1 % is seen in a second. */
const SAMPLING_INTERVAL_US = 200

/** What the main thread does while the work runs, as the sampling profiler sees it. */
export async function profiled(work: () => Promise<unknown>): Promise<Spending> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_INTERVAL_US })
    await session.post('Profiler.start')
    await work()
    return spending((await session.post('Profiler.stop')).profile)
  } finally {
    session.disconnect()
  }
}

/** Sums up the samples of a profile. Time in which nothing was to be done, and the profiler's own, counts for nobody. */
export function spending({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Spending {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const sums = Object.fromEntries(SPENDERS.map((spender) => [spender, 0])) as Record<Spender, number>
  for (const [index, sample] of samples.entries()) {
    const spender = spenderOf(sample)
    if (spender !== undefined) sums[spender] += (timeDeltas[index] ?? 0) / 1000
  }
  return sums

  /** A built-in function works for whoever calls it. */
  function spenderOf(id: number | undefined): Spender | undefined {
    const frame = id === undefined ? undefined : frames.get(id)
    if (id === undefined || frame === undefined) return 'Node.js: promises, timers and the rest'
    const { url, functionName } = frame
    if (functionName === '(idle)' || url === 'node:inspector') return undefined
    if (functionName === '(garbage collector)') return 'garbage collection'
    return url === '' ? spenderOf(parents.get(id)) : spenderIn(url)
  }
}

function spenderIn(url: string): Spender {
  if (url.startsWith('node:')) {
    if (url.includes('crypto')) return 'Node.js: cryptography'
    return /http|net|stream|event/.test(url) ? 'Node.js: HTTP and sockets' : 'Node.js: promises, timers and the rest'
  }
  const [, library] = /.*node_modules\/(.*)/.exec(url) ?? []
  if (library === undefined || library.startsWith('@aws-lambda-powertools/')) {
    return 'the toolkit, or what is written by hand'
  }
  return /^@(aws-sdk|smithy|aws-crypto|aws)\//.test(library) ? 'the AWS SDK' : 'libraries of the toolkit'
}
