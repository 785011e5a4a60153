import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { ValueCodec } from '../../lib/index.ts'

/** What happens to the next calls of a codec; when the list is used up, it works. */
export interface CodecFaults {
  readonly encode?: unknown[]
  readonly decode?: unknown[]
}

/** AES-256-GCM with a key made of a word, and a service for it that can be made to fail. */
export function aesCodec(name = 'aes-1', word = name, { encode = [], decode = [] }: CodecFaults = {}): ValueCodec {
  const key = createHash('sha256').update(word).digest()
  return {
    name,
    async encode(bytes, { associatedData }) {
      if (encode.length > 0) throw encode.shift()
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(associatedData)
      return Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
    },
    async decode(bytes, { associatedData }) {
      if (decode.length > 0) throw decode.shift()
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
        .setAAD(associatedData)
        .setAuthTag(bytes.subarray(-16))
      return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
    },
  }
}
