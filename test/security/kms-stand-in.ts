import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** What KMS does with data keys, on this machine. */
export interface KmsStandIn extends AsyncDisposable {
  readonly endpoint: string
  /** The operations asked for, by name. */
  readonly calls: string[]
  isDown: boolean
}

export async function startKms(): Promise<KmsStandIn> {
  const master = randomBytes(32)
  const calls: string[] = []
  const answers: Record<string, (input: Record<string, string>) => object> = {
    GenerateDataKey({ KeyId, EncryptionContext }) {
      const [key, iv] = [randomBytes(32), randomBytes(12)]
      const cipher = createCipheriv('aes-256-gcm', master, iv).setAAD(Buffer.from(JSON.stringify(EncryptionContext)))
      const wrapped = Buffer.concat([iv, cipher.update(key), cipher.final(), cipher.getAuthTag()])
      return { KeyId, Plaintext: key.toString('base64'), CiphertextBlob: wrapped.toString('base64') }
    },
    Decrypt({ KeyId, CiphertextBlob = '', EncryptionContext }) {
      const wrapped = Buffer.from(CiphertextBlob, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', master, wrapped.subarray(0, 12))
      decipher.setAAD(Buffer.from(JSON.stringify(EncryptionContext))).setAuthTag(wrapped.subarray(-16))
      const key = Buffer.concat([decipher.update(wrapped.subarray(12, -16)), decipher.final()])
      return { KeyId, Plaintext: key.toString('base64') }
    },
  }
  const server = createServer(async (request, response) => {
    const input = JSON.parse(await text(request))
    const name = String(request.headers['x-amz-target']).replace('TrentService.', '')
    calls.push(name)
    response.setHeader('content-type', 'application/x-amz-json-1.1')
    if (kms.isDown) {
      response.writeHead(400).end(JSON.stringify({ __type: 'DisabledException', message: 'The key is disabled.' }))
      return
    }
    response.end(JSON.stringify(answers[name]?.(input)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const kms: KmsStandIn = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    isDown: false,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return kms
}
