import type * as batch from '../../lib/batch/index.ts'
import type * as group from '../../lib/dynamodb/group/grouped-store.ts'
import type * as looking from '../../lib/dynamodb/looking-first.ts'
import type * as core from '../../lib/index.ts'
import type * as memory from '../../lib/memory/index.ts'
import type * as outbox from '../../lib/outbox/index.ts'
import type * as loading from '../../lib/outcome/lazily.ts'
import type * as reconciler from '../../lib/reconciler/index.ts'
import { answerAtOnce, loadAll } from './values.ts'

/** The library under simulation: lib itself, or a copy of it in which something was broken on purpose. */
export type Subject = typeof core &
  Pick<typeof memory, 'memoryStore'> &
  Pick<typeof batch, 'batchHandler'> &
  Pick<typeof group, 'groupedStore'> &
  Pick<typeof looking, 'lookingFirst'> &
  Pick<typeof outbox, 'dispatchOne'> &
  Pick<typeof loading, 'loadParts'> &
  Pick<typeof reconciler, 'reconciler'>

const LIB = new URL('../../lib/', import.meta.url)

/** @param library - the URL of a directory with the files of lib, ending in a slash. */
export async function loadSubject(library: URL = LIB): Promise<Subject> {
  answerAtOnce()
  const parts = await Promise.all(
    [
      'index.ts',
      'memory/index.ts',
      'batch/index.ts',
      'dynamodb/group/grouped-store.ts',
      'dynamodb/looking-first.ts',
      'outbox/index.ts',
      'outcome/lazily.ts',
      'reconciler/index.ts',
    ].map((part) => import(/* @vite-ignore */ new URL(part, library).href)),
  )
  const subject: Subject = Object.assign({}, ...parts)
  // Where something was broken on purpose, this may break, too: what matters is what it has loaded.
  await loadAll(subject).catch((error: unknown) => {
    if (library.href === LIB.href) throw error
  })
  await subject.loadParts()
  return subject
}
