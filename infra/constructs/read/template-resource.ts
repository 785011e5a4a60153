import { CfnResource, Stack, Token } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'

/**
 * The resource behind a construct when this app makes it, undefined for an imported one. Known by its type's name and not
 * by `instanceof`, which fails between two copies of aws-cdk-lib.
 */
export function resourceOf<T extends CfnResource>(construct: IConstruct, type: string): T | undefined {
  const child = construct.node.defaultChild
  return child !== undefined && CfnResource.isCfnResource(child) && child.cfnResourceType === type
    ? (child as T)
    : undefined
}

/** A number that stands in the template; undefined when it is known only at deployment. */
export function knownNumber(value: unknown): number | undefined {
  return typeof value === 'number' && !Token.isUnresolved(value) ? value : undefined
}

/** A property with everything in it that CDK fills in late. */
export function resolved(construct: IConstruct, value: unknown): unknown {
  return Stack.of(construct).resolve(value)
}

/** A property that is a list, or an empty list. */
export function resolvedList(construct: IConstruct, value: unknown): readonly unknown[] {
  const list = resolved(construct, value)
  return Array.isArray(list) ? list : []
}

/** A field of an object that nothing is known of. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
