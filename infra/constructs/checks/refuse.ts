import type { IConstruct } from 'constructs'

/** Ends the synthesis where a construct cannot even be made. @throws Error always, with the construct's path. */
export function refuse(construct: IConstruct, message: string): never {
  throw new Error(`[${construct.node.path}] ${message}`)
}

/** Refuses properties that contradict what was brought along. @throws Error naming them. */
export function refuseBeside(construct: IConstruct, brought: string, props: Readonly<Record<string, unknown>>): void {
  const given = Object.keys(props).filter((name) => props[name] !== undefined)
  if (given.length === 0) return
  refuse(
    construct,
    `${brought} is brought along, so ${given.join(', ')} cannot be set here: change it where it is made, or leave ${brought} out.`,
  )
}
