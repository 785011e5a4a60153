import { fileURLToPath } from 'node:url'
import type { Duration } from 'aws-cdk-lib'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda'
import { LogLevel, NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'

/** What differs from one function of the service to the next. */
export interface ServiceFunctionProps {
  /** File name in `functions/`. */
  readonly source: string
  readonly description: string
  readonly timeout: Duration
  readonly environment: Readonly<Record<string, string>>
}

/** A function of the service, bundled with everything it needs, that may write its own logs and nothing else. */
export function serviceFunction(scope: Construct, id: string, props: ServiceFunctionProps): NodejsFunction {
  const logGroup = new LogGroup(scope, `${id}Logs`, { retention: RetentionDays.ONE_MONTH })
  // Lambda's managed policy would allow the logs of every function in the account.
  const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
  logGroup.grants.write(role)
  return new NodejsFunction(scope, id, {
    entry: fileURLToPath(new URL(`../../functions/${props.source}`, import.meta.url)),
    description: props.description,
    timeout: props.timeout,
    environment: { ...props.environment, NODE_OPTIONS: '--enable-source-maps' },
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    memorySize: 512,
    role,
    logGroup,
    bundling: {
      format: OutputFormat.ESM,
      target: 'node24',
      mainFields: ['module', 'main'],
      // The SDK that the tests ran with, not the one the runtime happens to have.
      bundleAwsSDK: true,
      minify: true,
      // Errors are named after their classes, in logs and in stored failures.
      keepNames: true,
      sourceMap: true,
      sourcesContent: false,
      logLevel: LogLevel.WARNING,
      // CommonJS dependencies call require, which an ES module does not have.
      banner: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  })
}
