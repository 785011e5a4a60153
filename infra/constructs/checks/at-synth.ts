import { Validations } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { type Check, judge } from '../../../lib/checks/check.ts'

/**
 * Runs checks when the template is built, over what it then holds: later changes and escape hatches count. CDK puts the
 * construct's path before each message.
 *
 * @param facts what is known, for each thing that is checked; nothing where nothing is known
 */
export function checkAtSynth<Facts>(
  scope: Construct,
  checks: readonly Check<Facts>[],
  facts: () => readonly Facts[],
): void {
  scope.node.addValidation({
    validate: () => {
      const findings = facts().flatMap((known) => judge(checks, known))
      for (const { id, message } of findings.filter(({ severity }) => severity === 'warned')) {
        Validations.of(scope).addWarning(`lambda-once:${id}`, message)
      }
      return findings
        .filter(({ severity }) => severity === 'refused')
        .map(({ id, message }) => `${message} (lambda-once:${id})`)
    },
  })
}
