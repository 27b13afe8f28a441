import * as v from 'valibot'
import {
  elements,
  type JsonText,
  member,
  members,
  parseObject,
  rest,
  type TurnOptions,
} from '../../../src/model/index.ts'
import { readConversation } from '../messages.ts'
import { OpenAiBody } from '../schema.ts'
import { entriesExt } from '../wire.ts'
import { COMMON, describe, implicitCommand, metadataOf, type Read } from './request.ts'

const BODY_KEYS = new Set([...COMMON, 'messages', 'temperature', 'stream', 'reasoning_effort', 'tools'])

/** Reads the body of OpenAI's `/chat/completions`. */
export function readOpenAiBody(line: JsonText, value: object): Read {
  const { success, output, issues } = v.safeParse(OpenAiBody, value)
  if (!success) return describe(issues[0])
  const messages = member(line, 'messages')!
  const conversation = readConversation(messages)
  if (!conversation) return 'The last of messages must be one of the user or of a tool, with content.'
  const { systemPrompt, history, input, exact } = conversation
  const command = history.length === 0 ? implicitCommand(input) : undefined
  return {
    session: output.session_id || undefined,
    prompt: output.prompt_id || undefined,
    input,
    options: { ...bodyOptions(output, line), ...(systemPrompt !== undefined && { systemPrompt }) },
    ...(command && { command }),
    ...(history.length > 0 && { history }),
    ...(output.tools?.length && { clientTools: elements(member(line, 'tools')!).map(readTool) }),
    standalone: true,
    ext: entriesExt(
      { messages: exact ? undefined : messages, metadata: metadataOf(line) },
      members(rest(line, BODY_KEYS) ?? '{}'),
    ),
  }
}

function bodyOptions(body: OpenAiBody, line: JsonText): TurnOptions {
  const schema = member(member(member(line, 'response_format') ?? '', 'json_schema') ?? '', 'schema')
  return {
    ...(body.model && { model: body.model }),
    ...(body.temperature != null && { temperature: body.temperature }),
    ...(body.stream != null && { streaming: body.stream }),
    ...(body.reasoning_effort && { effort: body.reasoning_effort }),
    ...(schema !== undefined && { outputSchema: schema }),
  }
}

function readTool(raw: JsonText): { name: string; schema: JsonText } {
  const inner = member(raw, 'function') ?? '{}'
  const name = parseObject(inner)?.['name']
  return { name: typeof name === 'string' ? name : '', schema: member(inner, 'parameters') ?? '{}' }
}
