import { Duration } from 'aws-cdk-lib'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda'
import {
  type BundlingOptions,
  LogLevel,
  NodejsFunction,
  type NodejsFunctionProps,
  OutputFormat,
} from 'aws-cdk-lib/aws-lambda-nodejs'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'

const BUNDLING = {
  format: OutputFormat.ESM,
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
} satisfies BundlingOptions

/** Enough for a claim, a call and a completion, with their retries. */
const DEFAULT_TIMEOUT = Duration.seconds(10)
const DEFAULT_MEMORY_MEGABYTES = 512

/** A bundled function, with a log group of its own unless one was given. */
export interface BundledFunction {
  readonly fn: NodejsFunction
  readonly logGroup?: LogGroup
}

/**
 * A function, bundled with everything it needs, that may write its own logs and nothing else. In a VPC, or with a log
 * group or role that was given, the role is what CDK makes or what was given.
 */
export function bundledFunction(scope: Construct, props: NodejsFunctionProps): BundledFunction {
  const logGroup =
    props.logGroup === undefined ? new LogGroup(scope, 'Logs', { retention: RetentionDays.ONE_MONTH }) : undefined
  const role = logGroup && !props.role && !props.vpc ? ownLogsRole(scope, logGroup) : props.role
  const fn = new NodejsFunction(scope, 'Default', {
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    timeout: DEFAULT_TIMEOUT,
    memorySize: DEFAULT_MEMORY_MEGABYTES,
    ...props,
    environment: { NODE_OPTIONS: '--enable-source-maps', ...props.environment },
    ...(role && { role }),
    ...(logGroup && { logGroup }),
    bundling: { ...BUNDLING, ...props.bundling },
  })
  return { fn, ...(logGroup && { logGroup }) }
}

/** Lambda's managed policy would allow the logs of every function in the account. */
function ownLogsRole(scope: Construct, logGroup: LogGroup): Role {
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
  logGroup.grants.write(role)
  return role
}
