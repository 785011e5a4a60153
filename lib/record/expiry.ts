import type { TakeoverPolicy } from './record.ts'

/** How long a released record stays as a tombstone, in seconds: it keeps the fences of later claims in order. */
export const TOMBSTONE_SECONDS = 86_400

/** Seconds since 1970 at which something written now expires. Rounded up: nothing protects for less than it promised. */
export function expiryAfter(nowMs: number, seconds: number): number {
  return Math.ceil(nowMs / 1000 + seconds)
}

/**
 * When an unfinished record may be deleted, in seconds; `undefined` means never. Never before its lease ends,
 * whatever the options say: TTL must not delete a record under which somebody works.
 */
export function unfinishedExpiry(
  retentionSeconds: number,
  { takeover, nowMs, leaseUntil }: { takeover: TakeoverPolicy; nowMs: number; leaseUntil: number },
): number | undefined {
  if (takeover === 'never') return undefined
  return Math.max(expiryAfter(nowMs, retentionSeconds), expiryAfter(leaseUntil, 1))
}

/**
 * The same for an act on a record that somebody else has written, by other options perhaps: never earlier than it was.
 * One that was never to expire (an unknown outcome) is as any other from then on.
 */
export function keptExpiry(expiresAt: number | undefined, before: number | undefined): number | undefined {
  return expiresAt === undefined || before === undefined ? expiresAt : Math.max(expiresAt, before)
}
