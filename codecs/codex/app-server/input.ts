import { dropped, type Report, weakened } from '../../../src/codec-kit/index.ts'
import { type Blob, type JsonText, object, type Part, quote } from '../../../src/model/index.ts'
import { texts } from './server.ts'

/** The `input` of a turn; `report` gets what it cannot hold. */
export function inputJson(parts: readonly Part[], report: Report): JsonText {
  const items = parts.flatMap((part) => partJson(part, report) ?? [])
  return `[${items.length === 0 ? textJson('') : items.join(',')}]`
}

function partJson(part: Part, report: Report): JsonText | undefined {
  switch (part.type) {
    case 'text':
      return textJson(part.text)
    case 'data':
      report(weakened('part.data'))
      return textJson(part.json)
    case 'image':
    case 'audio': {
      const url = urlOf(part)
      if (url !== undefined) return texts({ type: part.type, url })
    }
  }
  report(dropped(`part.${part.type}`))
  return undefined
}

/** The address of a blob: where it is, or a data URL of its bytes; undefined when neither is known. */
export function urlOf({ type, mime, url, base64 }: Blob & { type: string }): string | undefined {
  if (url !== undefined) return url
  return base64 === undefined
    ? undefined
    : `data:${mime ?? (type === 'image' ? 'image/png' : 'audio/wav')};base64,${base64}`
}

function textJson(text: string): JsonText {
  return object({ type: '"text"', text: quote(text), text_elements: '[]' })
}
