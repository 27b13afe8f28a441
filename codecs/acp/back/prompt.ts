import { commandText, type Report, weakened, withInstruction } from '../../../src/codec-kit/index.ts'
import { type CommandOf, type JsonText, type Part, textOf } from '../../../src/model/index.ts'
import { type ContentKinds, partLoss, writeBlock } from '../content.ts'

/** The content blocks of a prompt. `system` is an instruction that the agent does not have yet. */
export function promptOf(
  { input, invocation }: CommandOf<'turn-start'>,
  system: string | undefined,
  kinds: ContentKinds,
  report: Report,
): JsonText {
  // A command without text: agents of this protocol find it in the text.
  const typed = !invocation || textOf(input) !== ''
  const said: Part[] = typed ? [...input] : [{ type: 'text', text: commandText(invocation) }, ...input]
  if (system !== undefined) {
    report(weakened('option.systemPrompt'))
    const at = said.findIndex((part) => part.type === 'text')
    const first = said[at]
    const text = withInstruction(system, first?.type === 'text' ? first.text : '')
    if (at < 0) said.unshift({ type: 'text', text })
    else said[at] = { type: 'text', text }
  }
  const blocks = said.flatMap((part) => {
    const block = writeBlock(part, kinds, (lost, field) => report(partLoss(lost, field)))
    return block ?? []
  })
  return `[${blocks.join(',')}]`
}
