import { isBase64 } from '../../src/codec-kit/index.ts'
import { type Blob, isRecord } from '../../src/model/index.ts'

/** The texts of a text, of a block, or of a list of blocks. */
export function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap((block) => (isRecord(block) ? textsOf(block['text']) : []))
  return []
}

/** The bytes of a `source`, or their place. */
export function readSource(source: unknown): Blob | string {
  if (!isRecord(source)) return 'has no source'
  const { type, media_type: mime, data, url, file_id: ref } = source
  if (type === 'url' && typeof url === 'string') return { url }
  if (type === 'file' && typeof ref === 'string') return { ref }
  if (type !== 'base64' || typeof mime !== 'string' || typeof data !== 'string') return 'has no valid source'
  return isBase64(data) ? { mime, base64: data } : 'has a source that is not base64'
}
