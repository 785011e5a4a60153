/** One JSON line, for metric filters. Straight to stdout: Lambda's console puts a prefix before each line. */
export function logLine(event: string, details: object): void {
  const printable = 'error' in details ? { ...details, error: String(details.error) } : details
  process.stdout.write(`${JSON.stringify({ event, ...printable })}\n`)
}
