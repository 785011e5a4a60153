import { fileURLToPath } from 'node:url'
import { App, Stack } from 'aws-cdk-lib'
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions'
import { Code, type FunctionProps, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda'

/** The file of a function; it is not bundled. */
export const ENTRY = fileURLToPath(new URL('../../../functions/payments-worker.ts', import.meta.url))

/** A stack in an app that bundles nothing. */
export function newStack(): Stack {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] }, analyticsReporting: false })
  return new Stack(app, 'Stack', { env: { account: '123456789012', region: 'eu-central-1' } })
}

/** A function as somebody else made it. */
export function plainFunction(stack: Stack, id = 'Plain', props: Partial<FunctionProps> = {}): LambdaFunction {
  return new LambdaFunction(stack, id, {
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromInline('exports.handler = async () => {}'),
    ...props,
  })
}

/** The template's only resource of a type whose logical id is so. */
export function only(stack: Stack, type: string, pattern = /^/): { readonly id: string; readonly properties: Json } {
  const found = Object.entries(Template.fromStack(stack).findResources(type)).filter(([id]) => pattern.test(id))
  if (found.length !== 1) throw new Error(`${found.length} resources ${type} ${pattern}, not one`)
  const [id, resource] = found[0]!
  return { id, properties: resource.Properties }
}

/** Why the template is not built; empty when it is. */
export function refusal(stack: Stack): string {
  try {
    Template.fromStack(stack)
    return ''
  } catch (error) {
    return String(error)
  }
}

/** The ids of the warnings with which the template is built, with their constructs. */
export function warnings(stack: Stack): string[] {
  return Annotations.fromStack(stack)
    .findWarning('*', Match.anyValue())
    .map(({ id, entry }) => `${id} ${String(entry.data).match(/lambda-once:[\w-]+/)?.[0]}`)
}

/** Every action a role is allowed, by the resource it is allowed on as the template has it. */
export function grantsOf(stack: Stack, roleIdStart: string): Record<string, string[]> {
  const grants: Record<string, string[]> = {}
  for (const { Properties } of Object.values(Template.fromStack(stack).findResources('AWS::IAM::Policy'))) {
    if (!JSON.stringify(Properties.Roles).includes(`"${roleIdStart}`)) continue
    for (const { Action, Resource } of Properties.PolicyDocument.Statement) {
      for (const resource of [Resource].flat()) {
        const name = resourceName(resource)
        grants[name] = [...(grants[name] ?? []), ...[Action].flat()].sort()
      }
    }
  }
  return grants
}

function resourceName(resource: Json): string {
  if (typeof resource === 'string') return resource
  const parts = resource['Fn::Join']?.[1] ?? [resource]
  return parts.map(partName).join('')
}

/** `Table` of a reference to `Table1234ABCD` or its ARN, `Table.StreamArn` of one to another attribute. */
function partName(part: Json): string {
  if (typeof part === 'string') return part
  const [id, attribute] = part['Fn::GetAtt'] ?? [part.Ref, 'Arn']
  return `${String(id).replace(/[0-9A-F]{8}$/, '')}${attribute === 'Arn' ? '' : `.${attribute}`}`
}

// biome-ignore lint/suspicious/noExplicitAny: a template is JSON, and each test names the path it is about.
type Json = any
