import { App } from 'aws-cdk-lib'
import { addSampleService } from '../stacks/sample-service.ts'
import { readSettings } from '../stacks/settings.ts'

const app = new App()
addSampleService(app, readSettings(app.node))
