import { dropped, type Report } from '../../../src/codec-kit/index.ts'
import { type JsonText, type Message, object, textOf } from '../../../src/model/index.ts'
import { texts } from './server.ts'

/** A conversation as the `items` of `thread/inject_items`: the messages of the model's provider, which hold texts. */
export function historyItems(history: readonly Message[], report: Report): JsonText {
  const items = history.flatMap(({ role, parts }) => {
    for (const { type } of parts) if (type !== 'text') report(dropped('start.history', type))
    const text = textOf(parts)
    if (text === '') return []
    if (role === 'tool') {
      report(dropped('start.history', role))
      return []
    }
    const type = role === 'assistant' ? 'output_text' : 'input_text'
    return object({
      type: '"message"',
      role: JSON.stringify(role === 'system' ? 'developer' : role),
      content: `[${texts({ type, text })}]`,
    })
  })
  return `[${items.join(',')}]`
}
