import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'

/** Quality 4 packs JSON about as well as gzip's best, in a tenth of the time of brotli's own default of 11. */
const BROTLI_QUALITY = 4

const compressed = promisify(brotliCompress)
const decompressed = promisify(brotliDecompress)

export async function compress(text: string): Promise<Uint8Array> {
  const bytes = Buffer.from(text)
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  return compressed(bytes, { params })
}

export async function decompress(bytes: Uint8Array): Promise<string> {
  return (await decompressed(bytes)).toString()
}
