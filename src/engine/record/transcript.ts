import type { Message, MessageView, Part, ToolView } from '../../model/index.ts'
import type { Turn } from '../turn/index.ts'

/** Input that an agent was given while it worked, after so many messages of the turn had begun. */
export interface Steered {
  after: number
  parts: readonly Part[]
}

/** The messages before a turn that its session does not know. */
export function earlierMessages({ command: { historyMode, history = [] }, follows }: Turn): readonly Message[] {
  return historyMode === 'delta' || (historyMode === 'complete' && !follows) ? history : []
}

/** The messages of a turn: its prompt, then what the agent said and the client's tools did, as far as it came, in order. */
export function messagesOf(turn: Turn, steered: readonly Steered[] = []): Message[] {
  const { view, command } = turn
  const messages: Message[] = []
  if (command.task === 'prompt') messages.push({ role: 'user', parts: command.input, at: view.startedAt })
  const tools = view.tools.filter((tool) => isKept(turn, tool))
  const add = (role: Message['role'], parts: readonly Part[]): void => {
    if (parts.length > 0) messages.push({ role, parts, at: view.at })
  }
  for (let place = 0; place <= view.messages.length; place += 1) {
    const said = shownOf(view.messages[place - 1])
    const called = at(tools, place)
    const parts = said ? partsOf(said) : []
    add(said?.role ?? 'assistant', called.length === 0 ? parts : [...parts, ...callsOf(called, parts)])
    add('tool', called.flatMap(resultOf))
    for (const { parts: more } of at(steered, place)) add('user', more)
  }
  return messages
}

/** The inputs at one place; most turns have none. */
function at<T extends { after: number }>(all: readonly T[], place: number): readonly T[] {
  return all.length === 0 ? all : all.filter(({ after }) => after === place)
}

/**
 * True for a call that is a part of the conversation: one that the client ran, or any call of an agent without its own
 * memory.
 */
function isKept({ agent: { dialect, context } }: Turn, { lane, called, executor }: ToolView): boolean {
  if (lane !== undefined || !called) return false
  return executor === 'client' || dialect.back.memory(context) === 'request'
}

/** The message, if it is one of the conversation. The agent's own echo of the prompt is the prompt. */
function shownOf(message: MessageView | undefined): MessageView | undefined {
  return message?.lane === undefined && message?.role !== 'user' ? message : undefined
}

function partsOf({ parts, text }: MessageView): readonly Part[] {
  return parts ?? (text === '' ? [] : [{ type: 'text', text }])
}

/** The calls that are missing in the parts of their message. */
function callsOf(tools: readonly ToolView[], parts: readonly Part[]): Part[] {
  const held = new Set(parts.map((part) => (part.type === 'tool-call' ? part.tool : undefined)))
  return tools.flatMap(({ id: tool, name, args }) => (held.has(tool) ? [] : { type: 'tool-call', tool, name, args }))
}

function resultOf({ id: tool, status, parts }: ToolView): Part[] {
  return status === undefined ? [] : [{ type: 'tool-reply', tool, status, parts }]
}
