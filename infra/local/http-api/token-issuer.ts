import { generateKeyPair, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import type { LocalJwtAuthorizer } from '../template/model.ts'
import type { JwtIdentity } from './event.ts'

// The only family of algorithms an HTTP API's JWT authorizer accepts is RSA.
const ALGORITHM = 'RS256'
const KEY_ID = 'local'

/** Stands in for the identity provider the template names: mints tokens, and verifies what it minted. */
export interface TokenIssuer {
  /** A signed access token for this subject. */
  mint(
    subject: string,
    authorizer: LocalJwtAuthorizer,
    options?: { lifetimeSeconds?: number; scope?: string; issuer?: string; audience?: string },
  ): Promise<string>
  /** Who the token speaks for, `unauthorized` (401) or `forbidden` (403: a scope is missing). */
  verify(token: string | undefined, authorizer: LocalJwtAuthorizer): Promise<JwtIdentity | 'unauthorized' | 'forbidden'>
}

/** Makes a token issuer with a fresh key pair. */
export async function createTokenIssuer(): Promise<TokenIssuer> {
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM)
  return Object.freeze({
    mint: async (subject, authorizer, options = {}) =>
      new SignJWT(options.scope === undefined ? {} : { scope: options.scope })
        .setProtectedHeader({ alg: ALGORITHM, kid: KEY_ID })
        .setSubject(subject)
        .setIssuer(options.issuer ?? authorizer.issuer)
        .setAudience(options.audience ?? authorizer.audiences[0] ?? '')
        .setIssuedAt()
        .setExpirationTime(Math.floor(Date.now() / 1000) + (options.lifetimeSeconds ?? 3600))
        .sign(privateKey),
    verify: async (token, authorizer) => {
      if (token === undefined) return 'unauthorized'
      const payload = await jwtVerify(token.replace(/^bearer\s+/i, ''), publicKey, {
        algorithms: [ALGORITHM],
        issuer: authorizer.issuer,
        audience: [...authorizer.audiences],
        requiredClaims: ['exp'],
      }).then(
        (verified) => verified.payload,
        () => undefined,
      )
      if (payload === undefined) return 'unauthorized'
      const granted = typeof payload.scope === 'string' ? payload.scope.split(' ') : []
      if (authorizer.scopes.length > 0 && !authorizer.scopes.some((scope) => granted.includes(scope)))
        return 'forbidden'
      return { claims: stringClaims(payload), scopes: authorizer.scopes.length > 0 ? granted : null }
    },
  } satisfies TokenIssuer)
}

// The gateway passes every claim on as a string; a list becomes "[a b]".
function stringClaims(payload: JWTPayload): Record<string, string> {
  return Object.fromEntries(
    Object.entries(payload).map(([name, value]) => [
      name,
      Array.isArray(value) ? `[${value.join(' ')}]` : typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]),
  )
}
