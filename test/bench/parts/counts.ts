import { actionsOf, measurePaths, measureRecord, type PathUnits, unitsOf } from '../paths/measure.ts'
import { figure, type Part, type Section } from '../report/section.ts'
import { scaleSections } from '../scale/sections.ts'

/** Requests and units of every path: counts, which are the same each time. */
export const counts: Part = {
  name: 'counts',
  async run({ endpoint, progress }) {
    progress('counts: requests and units of every path')
    const paths = await measurePaths(endpoint)
    return { sections: [pathsSection(paths), ...scaleSections(paths, await measureRecord(endpoint))], figures: {} }
  },
}

/** One line for each path, and what a reconciler's index adds to it. */
export function pathsSection(paths: readonly PathUnits[]): Section {
  const plain = paths.filter(({ isIndexed }) => !isIndexed)
  const names = [...new Set([...plain, ...paths].map(({ path }) => path))]
  const rows = names.map((name) => {
    const indexed = paths.find(({ path, isIndexed }) => path === name && isIndexed)
    const of = plain.find(({ path }) => path === name) ?? indexed
    if (of === undefined) return [name]
    const { writeUnits, readUnits, indexUnits } = unitsOf(of)
    const index = indexed === undefined ? 0 : unitsOf(indexed).indexUnits
    const units = [figure(writeUnits - indexUnits), `+ ${index}`, figure(readUnits)]
    return [name, String(of.requests.length), actionsOf(of), ...units]
  })
  const head = ['path', 'requests', 'which', 'write units', 'of a reconciler’s index', 'read units']
  return { name: 'paths', command: 'npm run bench -- --only counts', head, rows }
}
