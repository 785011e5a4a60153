import { readFile, writeFile } from 'node:fs/promises'
import type { Section } from './section.ts'

/** Pages of the docs that have figures of the benchmark in them. */
export const PAGES = ['performance', 'costs', 'scale'] as const

/** A page with the sections put between their marks; sections that it has no marks for are left out. */
export function pageWith(page: string, sections: readonly Section[]): string {
  return sections.reduce((text, section) => {
    const [open, close] = [`<!-- bench: ${section.name} -->\n`, `<!-- end: ${section.name} -->`]
    const start = text.indexOf(open)
    const end = text.indexOf(close)
    if (start < 0 || end < start) return text
    return text.slice(0, start + open.length) + markdown(section) + text.slice(end)
  }, page)
}

/** Puts the sections into every page of the docs that has a place for them. */
export async function writePages(sections: readonly Section[]): Promise<void> {
  for (const name of PAGES) {
    const path = new URL(`../../../docs/${name}.md`, import.meta.url)
    const page = await readFile(path, 'utf8')
    await writeFile(path, pageWith(page, sections))
  }
}

function markdown({ head, rows, command }: Section): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line), '', `\`${command}\``, ''].join('\n')
}
