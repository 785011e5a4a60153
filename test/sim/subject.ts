import type * as batch from '../../lib/batch/index.ts'
import type * as core from '../../lib/index.ts'
import type * as memory from '../../lib/memory/index.ts'
import type * as outbox from '../../lib/outbox/index.ts'
import type * as reconciler from '../../lib/reconciler/index.ts'

/** The library under simulation: lib itself, or a copy of it in which something was broken on purpose. */
export type Subject = typeof core &
  Pick<typeof memory, 'memoryStore'> &
  Pick<typeof batch, 'batchHandler'> &
  Pick<typeof outbox, 'dispatchOne'> &
  Pick<typeof reconciler, 'reconciler'>

/** @param library - the URL of a directory with the files of lib, ending in a slash. */
export async function loadSubject(library: URL = new URL('../../lib/', import.meta.url)): Promise<Subject> {
  const parts = await Promise.all(
    ['', 'memory/', 'batch/', 'outbox/', 'reconciler/'].map(
      (part) => import(/* @vite-ignore */ new URL(`${part}index.ts`, library).href),
    ),
  )
  return Object.assign({}, ...parts)
}
