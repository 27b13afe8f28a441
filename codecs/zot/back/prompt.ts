import { dropped, type Report, weakened, withInstruction } from '../../../src/codec-kit/index.ts'
import { type JsonText, type Members, object, type Part, quote, type TurnStart } from '../../../src/model/index.ts'

/** The fields of a `prompt` from a turn's input; `report` gets what it cannot hold. `system` is folded in when given. */
export function promptFields(start: TurnStart, system: string | undefined, report: Report): Members {
  let message = ''
  const images: JsonText[] = []
  for (const part of start.input) {
    const text = textPart(part, report)
    if (text !== undefined) message += (message === '' ? '' : '\n') + text
    else if (part.type === 'image' && part.base64 !== undefined) {
      images.push(object({ mime_type: quote(part.mime), data: quote(part.base64) }))
    } else report(dropped(`part.${part.type}`))
  }
  if (system !== undefined) {
    report(weakened('option.systemPrompt'))
    message = withInstruction(system, message)
  }
  return { message: quote(message), images: images.length === 0 ? undefined : `[${images.join(',')}]` }
}

function textPart(part: Part, report: Report): string | undefined {
  if (part.type === 'text') return part.text
  if (part.type !== 'data') return undefined
  report(weakened('part.data'))
  return part.json
}
