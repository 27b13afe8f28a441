/** OpenAI's Chat Completions, as its clients and servers write it. */
import { errors } from '../../../codecs/openai/errors.ts'
import type { Answered, Asked, Call, Counts, Json, ModelProtocol, Said, Script, Stop } from './protocol.ts'

interface Delta {
  content?: string | null
  reasoning_content?: string
  refusal?: string | null
  tool_calls?: { index?: number; id?: string; function: { name?: string; arguments?: string } }[]
}
interface Chunk {
  choices?: { delta?: Delta; message?: Delta; finish_reason?: string | null }[]
  usage?: Json & { prompt_tokens: number; completion_tokens: number }
  error?: { code: string; message: string }
  turnpike?: { losses: { kind: string; item: string }[] }
}

const user = (content: unknown): Json => ({ model: 'helper', messages: [{ role: 'user', content }] })
const IMAGE = (base64: string): Json => ({
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${base64}` },
})
const called = { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'add', arguments: '{}' } }] }
const hi: Json = { role: 'user', content: 'hi' }
const sound = user('hi')

function messageJsons({ role, text, image, calls, result }: Said): Json {
  if (role === 'tool') return { role, tool_call_id: result, content: text }
  const content = image === undefined ? text : [{ type: 'text', text }, IMAGE(image)]
  const tool_calls = calls?.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }))
  return { role, content: content ?? null, ...(tool_calls && { tool_calls }) }
}

function write({
  model,
  messages,
  system,
  tools,
  toolChoice,
  parallel,
  schema,
  maxTokens,
  effort,
  user,
  stream,
}: Asked): Json {
  return {
    model,
    messages: [...(system === undefined ? [] : [{ role: 'system', content: system }]), ...messages.map(messageJsons)],
    ...(tools && { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
    ...(toolChoice !== undefined && {
      tool_choice:
        typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { name: toolChoice.tool } },
    }),
    ...(parallel !== undefined && { parallel_tool_calls: parallel }),
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }),
    ...(maxTokens !== undefined && { max_completion_tokens: maxTokens }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(user !== undefined && { user }),
    ...(stream && { stream, stream_options: { include_usage: true } }),
  }
}

interface WireMessage {
  role: string
  content: string | null | { type: string; text?: string; image_url?: { url: string } }[]
  tool_call_id?: string
  tool_calls?: {
    id: string
    function?: { name: string; arguments: string }
    custom?: { name: string; input: string }
  }[]
}

function readMessage({ role, content, tool_call_id: result, tool_calls: calls }: WireMessage): Said {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
  const text = parts.flatMap((part) => part.text ?? []).join('\n')
  const url = parts.map((part) => ('image_url' in part ? part.image_url?.url : undefined)).find(Boolean)
  return {
    role: role as Said['role'],
    ...(text !== '' && { text }),
    ...(url && { image: url.replace('data:image/png;base64,', '') }),
    ...(calls && {
      calls: calls.map(({ id, function: called, custom }) =>
        called ? { id, name: called.name, args: called.arguments } : { id, name: custom!.name, args: custom!.input },
      ),
    }),
    ...(result && { result }),
  }
}

function readRequest(body: Json): Asked {
  const messages = body['messages'] as WireMessage[]
  const system = messages.find(({ role }) => role === 'system')
  type Tool = NonNullable<Asked['tools']>[number]
  const tools = body['tools'] as { function?: Tool; custom?: Tool }[] | undefined
  const choice = body['tool_choice'] as string | { function: { name: string } } | undefined
  const format = body['response_format'] as { json_schema: { schema: Json } } | undefined
  return {
    model: body['model'] as string,
    messages: messages.filter((message) => message !== system).map(readMessage),
    ...(system && { system: system.content as string }),
    ...(tools && { tools: tools.map((tool) => (tool.function ?? tool.custom)!) }),
    ...(choice !== undefined && {
      toolChoice: typeof choice === 'string' ? (choice as 'auto') : { tool: choice.function.name },
    }),
    ...(body['parallel_tool_calls'] !== undefined && { parallel: body['parallel_tool_calls'] as boolean }),
    ...(format && { schema: format.json_schema.schema }),
    ...(body['reasoning_effort'] !== undefined && { effort: body['reasoning_effort'] as string }),
    ...(body['user'] !== undefined && { user: body['user'] as string }),
    ...(body['max_completion_tokens'] !== undefined && { maxTokens: body['max_completion_tokens'] as number }),
  }
}

const STOPS: Readonly<Record<Stop, string>> = {
  end: 'stop',
  length: 'length',
  tools: 'tool_calls',
  refusal: 'content_filter',
}

function usageJson({ input, output, cached, reasoning }: Counts): Json {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  }
}

function readUsage(usage: NonNullable<Chunk['usage']>): Counts {
  const cached = (usage['prompt_tokens_details'] as { cached_tokens?: number } | undefined)?.cached_tokens
  const reasoning = (usage['completion_tokens_details'] as { reasoning_tokens?: number } | undefined)?.reasoning_tokens
  return {
    input: usage.prompt_tokens,
    output: usage.completion_tokens,
    ...(cached !== undefined && { cached }),
    ...(reasoning !== undefined && { reasoning }),
  }
}

/** Reads a whole answer, or a stream of chunks, in which only the end that the protocol demands counts as one. */
function read(raw: string): Answered {
  const streams = raw.startsWith('data:') || raw.startsWith(':')
  const data = raw.split('\n').flatMap((line) => (line.startsWith('data: ') ? line.slice(6) : []))
  const chunks = (streams ? data.filter((one) => one !== '[DONE]') : [raw]).map((one) => JSON.parse(one) as Chunk)
  const answered: Answered = { text: '', reasoning: '', calls: [] }
  let refused = false
  for (const { choices: [choice] = [], usage, error, turnpike } of chunks) {
    if (turnpike) answered.losses = turnpike.losses
    if (error) answered.error = { code: error.code, message: error.message }
    if (usage) answered.usage = readUsage(usage)
    const delta = choice?.delta ?? choice?.message ?? {}
    refused ||= (delta.refusal ?? '') !== ''
    answered.text += delta.content ?? delta.refusal ?? ''
    answered.reasoning += delta.reasoning_content ?? ''
    for (const piece of delta.tool_calls ?? []) takeCall(answered.calls, piece)
    const stop = Object.entries(STOPS).find(([, word]) => word === choice?.finish_reason)
    if (stop) answered.stop = refused ? 'refusal' : (stop[0] as Stop)
  }
  if (streams && data.at(-1) !== '[DONE]') answered.error ??= { code: 'cut', message: '' }
  return answered
}

function takeCall(
  calls: Call[],
  { index = calls.length, id, function: called }: NonNullable<Delta['tool_calls']>[0],
): void {
  const known = calls[index]
  if (known) known.args += called.arguments ?? ''
  else calls[index] = { id: id!, name: called.name!, args: called.arguments ?? '' }
}

const head = { id: 'chatcmpl-scripted', created: 1_700_000_000, model: 'scripted' }
const frame = (json: unknown): string => `data: ${JSON.stringify(json)}\n\n`

function frames({ pieces = [], stop, usage, error }: Script): string[] {
  const chunk = (delta: Delta, finish_reason: string | null = null): string =>
    frame({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })
  let index = -1
  const deltas = pieces.flatMap((piece): Delta[] => {
    if ('text' in piece) return [{ content: piece.text }]
    if ('reasoning' in piece) return [{ reasoning_content: piece.reasoning }]
    const { id, name, args } = piece.call
    index += 1
    return [
      { tool_calls: [{ index, id, function: { name, arguments: '' } }] },
      { tool_calls: [{ index, function: { arguments: args } }] },
    ]
  })
  const begin = [chunk({ content: '' }), ...deltas.map((delta) => chunk(delta))]
  if (error) return [...begin, frame(errorBody(error)), 'data: [DONE]\n\n']
  return [
    ...begin,
    chunk({}, STOPS[stop ?? 'end']),
    ...(usage ? [frame({ ...head, object: 'chat.completion.chunk', choices: [], usage: usageJson(usage) })] : []),
    'data: [DONE]\n\n',
  ]
}

function whole({ pieces = [], stop, usage }: Script): Json {
  const calls = pieces.flatMap((piece) => ('call' in piece ? piece.call : []))
  const text = pieces.map((piece) => ('text' in piece ? piece.text : '')).join('')
  const reasoning = pieces.map((piece) => ('reasoning' in piece ? piece.reasoning : '')).join('')
  const message = {
    ...messageJsons({ role: 'assistant', text, ...(calls.length > 0 && { calls }) }),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
  }
  return {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: STOPS[stop ?? 'end'] }],
    ...(usage && { usage: usageJson(usage) }),
  }
}

function errorBody({ code, message }: NonNullable<Script['error']>): Json {
  return { error: { message, type: 'server_error', code, param: null } }
}

const withMessages = (...messages: unknown[]): Json => ({ ...sound, messages })
const withTool = (tool: unknown): Json => ({ ...sound, tools: [{ type: 'function', function: tool }] })

export const chat: ModelProtocol = {
  codec: 'openai',
  agent: (url) => `protocol: openai, url: "${url}/v1"`,
  path: '/v1/chat/completions',
  headers: { authorization: 'Bearer none' },
  requestId: 'x-request-id',
  seals: 'none',
  losses: true,
  write,
  read,
  paramOf: (raw) => (JSON.parse(raw) as { error: { param: string | null } }).error.param,
  readRequest,
  frames,
  whole,
  errorBody,
  refusal: (code) => ({ status: errors[code].http, code: errors[code].code }),
  wrong: {
    'half of a JSON text': { body: '{"model":"helper","messages":[' },
    'JSON that is no object': { body: [sound] },
    'no messages': { body: { model: 'helper' }, param: 'messages' },
    'an empty list of messages': { body: withMessages(), param: 'messages' },
    'a message that is none': { body: withMessages('hi'), param: 'messages[0].role' },
    'a role that there is not': { body: withMessages({ ...hi, role: 'judge' }), param: 'messages[0].role' },
    'a content that is a number': { body: user(7), param: 'messages[0].content' },
    'a part without a type': { body: user([{ text: 'hi' }]), param: 'messages[0].content[0]' },
    'an image that is no base64': { body: user([IMAGE('§§§')]), param: 'messages[0].content[0]' },
    'a sound that is no base64': {
      body: user([{ type: 'input_audio', input_audio: { data: '§§§', format: 'wav' } }]),
      param: 'messages[0].content[0]',
    },
    'a file that is no base64': {
      body: user([{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,§§§' } }]),
      param: 'messages[0].content[0]',
    },
    'a result without its call': {
      body: withMessages(hi, called, { role: 'tool', tool_call_id: 'call_2', content: '5' }),
      param: 'messages[2].tool_call_id',
    },
    'a result without an id': { body: withMessages({ role: 'tool', content: '5' }), param: 'messages[0].tool_call_id' },
    'a call without an id': {
      body: withMessages({ role: 'assistant', tool_calls: [{ function: { name: 'add', arguments: '{}' } }] }),
      param: 'messages[0].tool_calls[0]',
    },
    'arguments that are no text': {
      body: withMessages({
        role: 'assistant',
        tool_calls: [{ id: 'call_1', function: { name: 'add', arguments: {} } }],
      }),
      param: 'messages[0].tool_calls[0]',
    },
    'tools that are no list': { body: { ...sound, tools: {} }, param: 'tools' },
    'a tool without a name': { body: withTool({ description: 'adds' }), param: 'tools[0].function.name' },
    'a schema of a tool that is none': {
      body: withTool({ name: 'add', parameters: { type: 'banana' } }),
      param: 'tools[0].function.parameters',
    },
    'a schema of the answer that is missing': {
      body: { ...sound, response_format: { type: 'json_schema' } },
      param: 'response_format.json_schema',
    },
    'a schema of the answer that is none': {
      body: { ...sound, response_format: { type: 'json_schema', json_schema: { name: 'a', schema: ['object'] } } },
      param: 'response_format.json_schema.schema',
    },
    'a choice of tools that there is not': { body: { ...sound, tool_choice: 'perhaps' }, param: 'tool_choice' },
    'more than one answer': { body: { ...sound, n: 2 }, param: 'n' },
    'a limit of tokens below one': { body: { ...sound, max_tokens: 0 }, param: 'max_tokens' },
    'a stream that is neither true nor false': { body: { ...sound, stream: 'yes' }, param: 'stream' },
    'a model that is a number': { body: { ...sound, model: 7 }, param: 'model' },
  },
}
