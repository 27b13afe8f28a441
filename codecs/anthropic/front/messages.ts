import { furtherMembers, type StartRequest, strayReply } from '../../../src/codec-kit/index.ts'
import { elements, type Fault, type Message, member, parseObject } from '../../../src/model/index.ts'
import { wrongRequest } from '../errors.ts'
import { readContent } from '../read-blocks.ts'
import { MESSAGES } from '../wire.ts'

const SAID = { role: true, content: true } as const
const ROLES = ['user', 'assistant', 'system'] as const

/** Reads the `messages` of a request. */
export function readMessages(body: string): Message[] | Fault {
  const messages: Message[] = []
  for (const [at, json] of elements(member(body, 'messages')!).entries()) {
    const value = parseObject(json)
    const role = ROLES.find((known) => known === value?.['role'])
    if (!role) return wrongRequest({ param: `messages[${at}].role`, wrong: `must be one of: ${ROLES.join(', ')}` })
    const parts = readContent(member(json, 'content'), `messages[${at}].content`)
    if ('wrong' in parts) return wrongRequest(parts)
    messages.push({ role, parts: MESSAGES.begin(parts, furtherMembers(json, value!, SAID)) })
  }
  const stray = strayReply(messages)
  if (stray === undefined) return messages
  return wrongRequest({
    param: `messages[${stray}].content`,
    wrong: 'has a result whose tool_use_id no message before has',
  })
}

/** The user's messages after the last answer are the input; instructions of the system after it belong to the history. */
export function conversation(messages: readonly Message[]): Pick<StartRequest, 'input' | 'history'> {
  const answered = messages.findLastIndex(({ role }) => role === 'assistant') + 1
  const last = messages.slice(answered)
  return {
    history: [...messages.slice(0, answered), ...last.filter(({ role }) => role === 'system')],
    input: MESSAGES.join(last.flatMap(({ role, parts }) => (role === 'user' ? [parts] : []))),
  }
}
