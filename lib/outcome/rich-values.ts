import { DevalueError, defaultStringifyOperations, parse, stringify } from 'devalue'
import { OutcomeUnstorableError } from '../base/errors.ts'

/**
 * A Buffer would come back as a bare Uint8Array, which is not deeply equal to what the first caller got.
 * In a list, because devalue takes an empty string for "not mine".
 */
const REDUCERS = { Buffer: (value: unknown) => Buffer.isBuffer(value) && [value.toString('base64')] }
const REVIVERS = { Buffer: ([base64]: [string]) => Buffer.from(base64, 'base64') }

/**
 * devalue writes the whole buffer under a view. Node cuts small views out of a pool that all requests share, so that
 * bytes of other callers would be stored, and given away by replays.
 */
const OPERATIONS = {
  viewInfo(view: ArrayBufferView): ReturnType<typeof defaultStringifyOperations.viewInfo> {
    const info = defaultStringifyOperations.viewInfo(view)
    const { buffer, byteOffset, byteLength } = info
    if (byteLength === info.bufferByteLength) return info
    return {
      ...info,
      buffer: buffer.slice(byteOffset, byteOffset + byteLength),
      byteOffset: 0,
      bufferByteLength: byteLength,
    }
  },
}

/** @throws OutcomeUnstorableError naming the path of a value that has no text */
export function toText(value: unknown): string {
  try {
    return stringify(value, REDUCERS, { operations: OPERATIONS })
  } catch (error) {
    const path = error instanceof DevalueError && error.path ? error.path : ''
    const why = error instanceof Error ? error.message : String(error)
    throw new OutcomeUnstorableError(
      `The outcome cannot be stored: ${why} at result${path}. Return plain data, or store what matters and return that.`,
      { cause: error },
    )
  }
}

export function fromText(text: string): unknown {
  return parse(text, REVIVERS)
}
