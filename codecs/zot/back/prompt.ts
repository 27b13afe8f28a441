import { type Entry, withInstruction } from '../../../src/codec-kit/index.ts'
import type { JsonText, Loss, Part, TurnStart } from '../../../src/model/index.ts'
import { object, quote } from '../../../src/model/index.ts'

/** The fields of a `prompt` from a turn's input; `report` gets what it cannot hold. `system` is folded in when given. */
export function promptFields(start: TurnStart, system: string | undefined, report: (loss: Loss) => void): Entry[] {
  let message = ''
  const images: JsonText[] = []
  for (const part of start.input) {
    const text = textPart(part, report)
    if (text !== undefined) message += (message === '' ? '' : '\n') + text
    else if (part.type === 'image' && part.base64 !== undefined) images.push(image(part.mime, part.base64))
    else report({ kind: 'dropped', item: `part.${part.type}`, why: 'no-place', count: 1 })
  }
  if (system !== undefined) {
    report({ kind: 'weakened', item: 'option.systemPrompt', why: 'no-place', count: 1 })
    message = withInstruction(system, message)
  }
  return [
    ['message', quote(message)],
    ['images', images.length === 0 ? undefined : `[${images.join(',')}]`],
  ]
}

function textPart(part: Part, report: (loss: Loss) => void): string | undefined {
  if (part.type === 'text') return part.text
  if (part.type !== 'data') return undefined
  report({ kind: 'weakened', item: 'part.data', why: 'no-place', count: 1 })
  return part.json
}

function image(mime: string | undefined, data: string): JsonText {
  return object([
    ['mime_type', mime === undefined ? undefined : quote(mime)],
    ['data', quote(data)],
  ])
}
