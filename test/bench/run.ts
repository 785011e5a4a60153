import Table from 'cli-table3'
import { startDynamoDbLocal } from '../../infra/local/engines/dynamodb-local.ts'
import { bundleSizes } from './bundle-size.ts'
import { requestCounts } from './request-counts.ts'
import { writeUnits } from './write-units.ts'

process.env.AWS_REGION ??= 'eu-central-1'
process.env.AWS_ACCESS_KEY_ID ??= 'local'
process.env.AWS_SECRET_ACCESS_KEY ??= 'local'

const sizes = new Table({ head: ['added to a bundle with the SDK and Middy', 'minified bytes'] })
for (const { entry, bytes } of await bundleSizes(process.cwd())) sizes.push([entry, bytes])
console.log(sizes.toString())

const engine = await startDynamoDbLocal()
try {
  const counts = new Table({ head: ['operation', 'requests', 'which'] })
  for (const { operation, requests } of await requestCounts(engine.endpoint)) {
    counts.push([operation, requests.length, requests.join(', ')])
  }
  console.log(counts.toString())

  const units = new Table({ head: ['operation', 'index', 'request: write units (of the index)', 'units in all'] })
  for (const { operation, isIndexed, requests } of await writeUnits(engine.endpoint)) {
    const each = requests.map(({ action, units, indexUnits }) => `${action}: ${units} (${indexUnits})`)
    const total = requests.reduce((sum, request) => sum + request.units, 0)
    units.push([operation, isIndexed ? 'yes' : 'no', each.join('\n'), total])
  }
  console.log(units.toString())
} finally {
  await engine.stop()
}
