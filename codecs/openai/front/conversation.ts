import { strayReply } from '../../../src/codec-kit/index.ts'
import { type Fault, type JsonText, type Message, type Part, textOf } from '../../../src/model/index.ts'
import { invalidRequest } from '../errors.ts'
import { type Api, MESSAGES } from '../further.ts'

type Messages = readonly { role: Message['role']; parts: readonly Part[] }[]

/** Refuses the result of a call that no message before has made. */
export function strayResult(messages: Messages): Fault | undefined {
  const at = strayReply(messages)
  if (at === undefined) return undefined
  return invalidRequest(`No message before messages[${at}] has made its call.`, `messages[${at}].tool_call_id`)
}

/** The number of system messages that the conversation begins with; later ones stay where they are. */
function leading(messages: Messages): number {
  const first = messages.findIndex(({ role }) => role !== 'system')
  return first < 0 ? messages.length : first
}

/** The system messages that the conversation begins with, as the system prompt. */
export function systemPromptOf(messages: Messages): string | undefined {
  const prompt = messages
    .slice(0, leading(messages))
    .map(({ parts }) => textOf(parts))
    .join('\n\n')
  return prompt === '' ? undefined : prompt
}

/** The system messages that the conversation begins with, where they are more than the text of a prompt; else undefined. */
export function richSystem(messages: Messages, raws: readonly JsonText[]): JsonText | undefined {
  const system = messages.slice(0, leading(messages))
  const isRich = system.some(({ parts }) => parts.some(({ type, ext }) => type !== 'text' || ext !== undefined))
  return isRich ? `[${raws.slice(0, system.length).join(',')}]` : undefined
}

/** The last messages of the user, or the results of tools, are the input; what is before them is history. */
export function conversation(messages: Messages, api: Api): { input: readonly Part[]; history: readonly Message[] } {
  const said = messages.slice(leading(messages))
  const before = said.findLastIndex(({ role }) => role !== 'user' && role !== 'tool')
  const input = said.slice(before + 1).map(({ parts }) => parts)
  return { history: said.slice(0, before + 1), input: MESSAGES[api].join(input) }
}
