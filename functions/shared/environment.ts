/**
 * A variable that the template sets.
 *
 * @throws Error naming the variable, while the function starts: a wrong deployment must not take a single request.
 */
export function environmentVariable(name: string): string {
  const value = process.env[name]
  if (value === undefined || value.trim() === '') throw new Error(`The environment variable ${name} is not set.`)
  return value
}

/**
 * A variable that is a positive number.
 *
 * @throws Error naming the variable and what it holds
 */
export function numberVariable(name: string): number {
  const value = environmentVariable(name)
  const number = Number(value)
  if (Number.isFinite(number) && number > 0) return number
  throw new Error(`The environment variable ${name} must be a positive number; it is "${value}".`)
}
