import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { acknowledgeFindings } from '../stacks/nag-acknowledgements.ts'
import { addSampleService } from '../stacks/sample-service.ts'
import { readSettings } from '../stacks/settings.ts'

const app = new App()
acknowledgeFindings(addSampleService(app, readSettings(app.node)))
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app))
