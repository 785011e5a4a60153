import { AsyncLocalStorage } from 'node:async_hooks'

const METHODS = ['debug', 'info', 'log', 'warn', 'error'] as const

/** Whether whoever writes is in a disturbed sequence. Asked at each line, so that tests beside it are heard. */
const isDisturbed = new AsyncLocalStorage<boolean>()

/** The console is one for the whole process, and so is how many explorations are under way that mute it. */
let explorations = 0
let restore: () => void = () => undefined

/** Mutes what is written in disturbed sequences: dozens of errors that are made on purpose would hide the one that matters. */
export async function withMutedConsole<T>(explore: () => Promise<T>): Promise<T> {
  if (explorations++ === 0) restore = mute()
  try {
    return await explore()
  } finally {
    if (--explorations === 0) restore()
  }
}

/** Runs a sequence with faults. */
export function disturbed<T>(run: () => Promise<T>): Promise<T> {
  return isDisturbed.run(true, run)
}

function mute(): () => void {
  const before = METHODS.map((name) => [name, console[name]] as const)
  for (const [name, write] of before) {
    console[name] = (...args: unknown[]) => {
      if (!isDisturbed.getStore()) write.apply(console, args)
    }
  }
  return () => {
    for (const [name, write] of before) console[name] = write
  }
}
