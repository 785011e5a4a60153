// A user's CDK stack.
import { App, Duration, Stack } from 'aws-cdk-lib'
import { IdempotencyTable } from 'lambda-once/cdk'

const app = new App()
const stack = new Stack(app, 'Data')
const table: IdempotencyTable = new IdempotencyTable(stack, 'Operations', { retention: Duration.days(15) })
console.log(JSON.stringify({ path: table.node.path }))
