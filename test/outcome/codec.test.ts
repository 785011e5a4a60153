import { brotliDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeValue, type EncodedValue, encodeValue } from '../../lib/outcome/codec.ts'

const textOf = (encoded: EncodedValue): string =>
  encoded.kind !== 'brotli' ? encoded.text : brotliDecompressSync(encoded.bytes).toString()
const roundTrip = async (value: unknown) => decodeValue(await encodeValue(value))

/** Every run of bytes that a stored text holds. */
const bytesIn = (text: string): string =>
  [...text.matchAll(/"([A-Za-z0-9+/=]{4,})"/g)].map(([, base64]) => Buffer.from(base64 ?? '', 'base64')).join('|')

const FOREIGN = 'a secret of another caller'

/** A buffer with somebody else's bytes on both sides of the 16 bytes in the middle. */
function pooled(): { readonly buffer: ArrayBuffer; readonly offset: number } {
  const foreign = Buffer.from(FOREIGN.padEnd(32, '.'))
  const bytes = new Uint8Array(foreign.length * 2 + 16)
  bytes.set(foreign)
  bytes.set(
    Array.from({ length: 16 }, (_, index) => index + 1),
    foreign.length,
  )
  bytes.set(foreign, foreign.length + 16)
  return { buffer: bytes.buffer, offset: foreign.length }
}

const CONSTRUCTORS = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
]

describe('a view of a part of a buffer', () => {
  test.each(CONSTRUCTORS.map((View) => [View.name, View] as const))(
    '%s comes back exactly, and nothing around it is stored',
    async (_name, View) => {
      const { buffer, offset } = pooled()
      const view = new View(buffer, offset, 16 / View.BYTES_PER_ELEMENT)
      const encoded = await encodeValue(view)
      expect(bytesIn(textOf(encoded))).not.toContain(FOREIGN.slice(0, 8))
      const back = await decodeValue(encoded)
      expect(back).toStrictEqual(view)
      expect((back as typeof view).buffer.byteLength).toBe(16)
    },
  )

  test('DataView comes back exactly, and nothing around it is stored', async () => {
    const { buffer, offset } = pooled()
    const encoded = await encodeValue(new DataView(buffer, offset, 16))
    expect(bytesIn(textOf(encoded))).not.toContain(FOREIGN.slice(0, 8))
    const back = (await decodeValue(encoded)) as DataView
    expect(back).toBeInstanceOf(DataView)
    expect([back.byteLength, back.buffer.byteLength]).toEqual([16, 16])
    expect(Buffer.from(back.buffer).toString('hex')).toBe('0102030405060708090a0b0c0d0e0f10')
  })

  test('of Node’s own pool does not take the pool along', async () => {
    const mine = Buffer.from('mine')
    const foreign = Buffer.from(FOREIGN)
    expect(mine.buffer).toBe(foreign.buffer)
    const view = new Uint8Array(mine.buffer, mine.byteOffset, mine.length)
    for (const value of [view, mine, mine.subarray(1, 3)]) {
      const encoded = await encodeValue(value)
      expect(encoded).toMatchObject({ kind: 'text' })
      expect(bytesIn(textOf(encoded))).not.toContain('secret')
      expect(textOf(encoded).length).toBeLessThan(60)
      expect(await decodeValue(encoded)).toStrictEqual(value)
    }
  })

  test('is cut out at any depth, in maps and sets, and together with others of its buffer', async () => {
    const { buffer, offset } = pooled()
    const bytes = new Uint8Array(buffer, offset, 16)
    const value = {
      list: [{ bytes }, bytes.subarray(4, 8)],
      map: new Map([[bytes.subarray(0, 2), new Float64Array(buffer, offset, 2)]]),
      set: new Set([bytes.subarray(2, 3)]),
    }
    const encoded = await encodeValue(value)
    expect(bytesIn(textOf(encoded))).not.toContain(FOREIGN.slice(0, 8))
    expect(await decodeValue(encoded)).toStrictEqual(value)
  })

  test('is what it was when it was stored: later writes into the pool do not reach it', async () => {
    const { buffer, offset } = pooled()
    const view = new Uint8Array(buffer, offset, 16)
    const back = await roundTrip(view)
    new Uint8Array(buffer).fill(0)
    expect(back).toStrictEqual(Uint8Array.from({ length: 16 }, (_, index) => index + 1))
  })

  test('may be empty', async () => {
    const { buffer, offset } = pooled()
    const encoded = await encodeValue(new Uint8Array(buffer, offset, 0))
    expect(bytesIn(textOf(encoded))).not.toContain(FOREIGN.slice(0, 8))
    expect(await decodeValue(encoded)).toStrictEqual(new Uint8Array())
  })
})

describe('a view of a whole buffer', () => {
  test('keeps sharing it with others', async () => {
    const { buffer } = new Uint8Array([1, 2, 3, 4])
    const value = { bytes: new Uint8Array(buffer), words: new Uint16Array(buffer), buffer }
    const back = (await roundTrip(value)) as typeof value
    expect(back).toStrictEqual(value)
    expect(back.bytes.buffer).toBe(back.buffer)
    expect(back.words.buffer).toBe(back.buffer)
  })
})

describe('a value', () => {
  test('of plain data, dates and bytes comes back as it was', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.anything({
          // The one name that devalue refuses.
          key: fc.string().filter((name) => name !== '__proto__'),
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSet: true,
          withTypedArray: true,
          withSparseArray: true,
        }),
        async (value) => {
          expect(await roundTrip(value)).toStrictEqual(value)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('that has lone surrogates comes back as it was, in text that has none', async () => {
    const value = { 'a\ud800': 'b\udfff', pattern: /\udc00/ }
    const encoded = await encodeValue(value)
    expect(textOf(encoded).isWellFormed()).toBe(true)
    expect(await decodeValue(encoded)).toStrictEqual(value)
  })

  test.each<[string, unknown, string]>([
    ['a function', { pay: () => 1 }, 'result.pay'],
    ['an object with a key __proto__', { list: JSON.parse('{"__proto__":1}') }, 'result.list'],
    ['an instance of a class', { list: [new (class Order {})()] }, 'result.list[0]'],
  ])('that is %s cannot be stored', async (_name, value, path) => {
    await expect(encodeValue(value)).rejects.toMatchObject({
      code: 'OUTCOME_UNSTORABLE',
      message: expect.stringContaining(path),
    })
  })

  test.each<[string, EncodedValue]>([
    ['a text that is none', { kind: 'text', text: '[' }],
    ['a text of another kind', { kind: 'text', text: '[["Order",1],1]' }],
    ['bytes that are none', { kind: 'brotli', bytes: new Uint8Array([1, 2, 3]) }],
  ])('read from %s is lost, not made up', async (_name, encoded) => {
    await expect(decodeValue(encoded)).rejects.toMatchObject({ code: 'OUTCOME_LOST' })
  })
})
