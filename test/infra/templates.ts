import { readFileSync } from 'node:fs'
import { App, RemovalPolicy } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { IdempotencyDataStack } from '../../infra/stacks/data-stack.ts'
import { PaymentsStack } from '../../infra/stacks/payments-stack.ts'

/** The templates of both stacks under the flags of cdk.json. The functions are bundled only when a directory is given. */
export function synthesize(bundlesTo?: string): { data: Template; payments: Template } {
  const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'))
  const bundled = bundlesTo === undefined ? { context: { 'aws:cdk:bundling-stacks': [] } } : { outdir: bundlesTo }
  const app = new App({ ...bundled, context: { ...context, ...bundled.context }, analyticsReporting: false })
  const data = new IdempotencyDataStack(app, 'Data', { removalPolicy: RemovalPolicy.RETAIN, deletionProtection: true })
  const payments = new PaymentsStack(app, 'Payments', {
    idempotencyTable: data.idempotencyTable,
    ordersTable: data.ordersTable,
    ledgerTable: data.ledgerTable,
    balancesTable: data.balancesTable,
    jwtIssuer: 'https://issuer.test',
    jwtAudience: 'audience-of-the-test',
    paymentProviderUrl: 'https://provider.test',
    webhookSecretName: 'webhook-secret-of-the-test',
  })
  return { data: Template.fromStack(data), payments: Template.fromStack(payments) }
}

/** A resource as it lies in a template. */
export interface Resource {
  readonly Type: string
  // biome-ignore lint/suspicious/noExplicitAny: a template is JSON, and each test names the path it is about.
  readonly Properties: any
  readonly DeletionPolicy?: string
  readonly UpdateReplacePolicy?: string
}

/** Logical id and resource of all resources of a type whose logical id starts so. */
export function resourcesOf(template: Template, type: string, idStart = ''): [string, Resource][] {
  return Object.entries(template.findResources(type) as Record<string, Resource>).filter(([id]) =>
    id.startsWith(idStart),
  )
}

/** The only resource of a type whose logical id starts so. */
export function onlyResource(template: Template, type: string, idStart = ''): [string, Resource] {
  const found = resourcesOf(template, type, idStart)
  if (found.length !== 1) throw new Error(`${found.length} resources ${type} ${idStart}…, not one`)
  return found[0]!
}
