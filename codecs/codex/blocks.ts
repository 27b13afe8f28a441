import { elements, isRecord, type JsonText, type Part, parse } from '../../src/model/index.ts'

/** The content of a tool's result, a raw array of blocks, as parts; a block without a text stays JSON. */
export function blockParts(json: JsonText | undefined): Part[] {
  return elements(json ?? '').map((block): Part => {
    const value = parse(block)
    const text = isRecord(value) ? value['text'] : undefined
    return typeof text === 'string' ? { type: 'text', text } : { type: 'data', json: block }
  })
}

/** The steps of a plan as the model has them. */
export function planJson(steps: readonly { content: string; status: string }[]): JsonText {
  return JSON.stringify({ entries: steps })
}
