// Prints what each function of the sample service weighs, and fails when one is over the limit.
import { fileURLToPath } from 'node:url'
import Table from 'cli-table3'
import { ensureAssembly } from '../local/job/synth.ts'
import { functionSizes, MOST_BYTES } from './function-sizes.ts'

const { directory } = ensureAssembly(fileURLToPath(new URL('../../', import.meta.url)))
const sizes = functionSizes(directory)
const table = new Table({ head: ['function', 'bytes', 'source map', "from Lambda's runtime"] })
for (const { name, bytes, sourceMapBytes, external } of sizes) {
  table.push([name, bytes, sourceMapBytes, external.join('\n')])
}
console.log(table.toString())
const over = sizes.filter(({ bytes }) => bytes > MOST_BYTES)
for (const { name, bytes } of over) console.error(`${name} has ${bytes} bytes; the limit is ${MOST_BYTES}.`)
process.exitCode = over.length > 0 ? 1 : 0
