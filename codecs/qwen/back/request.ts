import { dropped, messageLine, type Report, weakened, withInstruction } from '../../../src/codec-kit/index.ts'
import {
  type CommandOf,
  type Invocation,
  type JsonText,
  type Members,
  members,
  object,
  oneLine,
  type Part,
  quote,
  rest,
  textOf,
} from '../../../src/model/index.ts'
import { writeConversation } from '../messages.ts'
import { textPart, writeParts } from '../parts.ts'
import { addedMembers, commandJson, ownMember, PROTOCOL } from '../wire.ts'

/** The agent's own ids of a request's session and prompt. */
export interface Where {
  session: string
  prompt: string
}

type Start = CommandOf<'turn-start'>
const COMPRESS: Invocation = { kind: 'slash', path: ['compress'], args: '' }
/** Members of `ext` that are not members of the request itself. */
const INNER: ReadonlySet<string> = new Set(['input', 'options', 'messages', 'response_format'])

/**
 * The line that starts a turn: a Qwen Chat Request, or an OpenAI body where a transcript comes with it. `system` is a
 * system prompt that the agent does not know yet: it has no field of its own in the first and goes before the prompt.
 */
export function requestLine(start: Start, where: Where, system: string | undefined, report: Report): string {
  if (start.ext && start.ext.protocol !== PROTOCOL) report(dropped('ext', start.ext.protocol))
  const head: Members = {
    session_id: quote(where.session),
    prompt_id: quote(where.prompt),
    model: quote(start.options.model),
  }
  const added = addedMembers(start.ext)
  const body = start.history ? conversationMembers(start, system, report) : chatMembers(start, system, report)
  return messageLine({ ...head, ...body }, added && rest(added, INNER))
}

function conversationMembers(start: Start, system: string | undefined, report: Report): Members {
  const { temperature, tools, outputSchema } = start.options
  if (tools) report(dropped('option.tools'))
  const written = writeConversation(system, start.history!, start.input, report)
  const schema = outputSchema && `{"type":"json_schema","json_schema":{"name":"answer","schema":${outputSchema}}}`
  return {
    messages: ownMember(start.ext, 'messages') ?? written,
    temperature: temperature === undefined ? undefined : String(temperature),
    response_format: ownMember(start.ext, 'response_format') ?? schema,
  }
}

function chatMembers(start: Start, system: string | undefined, report: Report): Members {
  const { temperature, tools, outputSchema } = start.options
  if (outputSchema !== undefined) report(dropped('option.outputSchema'))
  const own: Members = {
    temperature: temperature === undefined ? undefined : String(temperature),
    tool_overrides: tools && `[${tools.map(quote).join(',')}]`,
  }
  const options = object(own, members(ownMember(start.ext, 'options') ?? '{}'))
  const verbatim = system === undefined ? ownMember(start.ext, 'input') : undefined
  const reply = start.input.find((part) => part.type === 'tool-reply')
  return {
    tool_call_id: reply && quote(reply.tool),
    input: verbatim ?? inputJson(start, system, report),
    options: options === '{}' ? undefined : options,
  }
}

function inputJson(start: Start, system: string | undefined, report: Report): JsonText {
  const { invocation, input } = start
  const command = start.task === 'compact' ? commandJson(COMPRESS) : invocation && commandJson(invocation)
  const reply = input.some(({ type }) => type === 'tool-reply')
  if (invocation && system !== undefined) report(dropped('option.systemPrompt', undefined, 'policy'))
  // A declared command says everything: its text would be a second prompt.
  const parts = command === undefined ? withSystem(input, system, report) : (withoutText(input) as readonly Part[])
  const written = writeParts(parts, report)
  return object({
    origin: reply ? '"tool_response"' : '"user"',
    parts: written === '[]' ? `[${textPart('')}]` : written,
    command: command ?? 'null',
  })
}

function withoutText(input: readonly Part[]): readonly Part[] {
  return input.filter(({ type }) => type !== 'text')
}

function withSystem(input: readonly Part[], system: string | undefined, report: Report): readonly Part[] {
  if (system === undefined) return input
  report(weakened('option.systemPrompt'))
  return [{ type: 'text', text: withInstruction(system, textOf(input)) }, ...withoutText(input)]
}

/** The line that cancels a turn. */
export function cancelLine({ session, prompt }: Where): string {
  return `{"type":"control/cancel","session_id":${quote(session)},"prompt_id":${quote(prompt)},"reason":"escape"}`
}

/** The line that asks for hints; `args` is what was typed, as an object. */
export function hintLine({ session, prompt }: Where, args: JsonText): string {
  const head = { type: '"command_hint_request"', session_id: quote(session), prompt_id: quote(prompt) }
  return oneLine(object(head, members(args)))
}
