import { elements, isRecord, type JsonText, type Part, parse } from '../model/index.ts'

/** The `content` of a `tool_result`, raw: a text, or blocks of which those without a text stay JSON. */
export function toolResultParts(json: JsonText | undefined): Part[] {
  const content = parse(json ?? '""')
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return elements(json!).map((block): Part => {
    const value = parse(block)
    const text = isRecord(value) && value['type'] === 'text' ? value['text'] : undefined
    return typeof text === 'string' ? { type: 'text', text } : { type: 'data', json: block }
  })
}
