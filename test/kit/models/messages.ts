/** Anthropic's Messages, as its clients and servers write it. */
import { errors } from '../../../codecs/anthropic/errors.ts'
import type { Answered, Asked, Counts, Json, ModelProtocol, Piece, Said, Script, Stop } from './protocol.ts'

interface Block {
  type: string
  text?: string
  thinking?: string
  signature?: string
  id?: string
  name?: string
  input?: Json
  tool_use_id?: string
  content?: string | Block[]
  source?: { data: string }
}
interface Usage {
  input_tokens: number
  output_tokens: number
  cache_read_input_tokens?: number
  output_tokens_details?: { thinking_tokens: number }
}
interface Event {
  type: string
  index?: number
  message?: { usage: Usage }
  content_block?: Block
  delta?: { text?: string; thinking?: string; partial_json?: string; signature?: string; stop_reason?: string }
  usage?: Usage
  content?: Block[]
  stop_reason?: string
  error?: { code: string; type: string; message: string }
}

const user = (content: unknown): Json => ({ model: 'helper', max_tokens: 100, messages: [{ role: 'user', content }] })
const IMAGE = (data: string): Json => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })
const called = { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'add', input: {} }] }
const hi: Json = { role: 'user', content: 'hi' }
const sound = user('hi')

function messageJson({ role, text, image, calls = [], thought, result }: Said): Json {
  if (role === 'tool') return { role: 'user', content: [{ type: 'tool_result', tool_use_id: result, content: text }] }
  const blocks = [
    ...(thought ? [{ type: 'thinking', thinking: thought.text, signature: thought.seal }] : []),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...(image === undefined ? [] : [IMAGE(image)]),
    ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: JSON.parse(args) as Json })),
  ]
  return { role, content: blocks }
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
  const single = parallel === false ? { disable_parallel_tool_use: true } : {}
  const choice =
    typeof toolChoice === 'object'
      ? { type: 'tool', name: toolChoice.tool }
      : toolChoice && { type: toolChoice === 'required' ? 'any' : toolChoice }
  return {
    model,
    max_tokens: maxTokens ?? 1000,
    messages: messages.map(messageJson),
    ...(system !== undefined && { system }),
    ...(tools && {
      tools: tools.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })),
    }),
    ...((choice || parallel === false) && { tool_choice: { type: 'auto', ...choice, ...single } }),
    ...((schema || effort !== undefined) && {
      output_config: {
        ...(effort !== undefined && { effort }),
        ...(schema && { format: { type: 'json_schema', schema } }),
      },
    }),
    ...(user !== undefined && { metadata: { user_id: user } }),
    ...(stream && { stream }),
  }
}

function textOf(content: string | Block[] | undefined): string {
  if (typeof content === 'string') return content
  return (content ?? []).flatMap((block) => block.text ?? []).join('\n')
}

/** Results of calls are messages of their own in the terms that all protocols share. */
function readMessage({ role, content }: { role: 'user' | 'assistant'; content: string | Block[] }): Said[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const results = blocks.filter(({ type }) => type === 'tool_result')
  const others = blocks.filter(({ type }) => type !== 'tool_result')
  const text = textOf(others)
  const thinking = others.find(({ type }) => type === 'thinking')
  const image = others.find(({ type }) => type === 'image')?.source?.data
  const calls = others.flatMap(({ type, id, name, input }) =>
    type === 'tool_use' ? [{ id: id!, name: name!, args: JSON.stringify(input) }] : [],
  )
  return [
    ...results.map((block): Said => ({ role: 'tool', text: textOf(block.content), result: block.tool_use_id! })),
    ...(others.length === 0
      ? []
      : [
          {
            role,
            ...(thinking && { thought: { text: thinking.thinking!, seal: thinking.signature! } }),
            ...(text !== '' && { text }),
            ...(image && { image }),
            ...(calls.length > 0 && { calls }),
          },
        ]),
  ]
}

function readRequest(body: Json): Asked {
  const tools = body['tools'] as { name: string; description: string; input_schema: Json }[] | undefined
  const choice = body['tool_choice'] as { type: string; name?: string; disable_parallel_tool_use?: true } | undefined
  const output = body['output_config'] as { format?: { schema: Json }; effort?: string } | undefined
  const metadata = body['metadata'] as { user_id: string } | undefined
  return {
    model: body['model'] as string,
    messages: (body['messages'] as Parameters<typeof readMessage>[0][]).flatMap(readMessage),
    maxTokens: body['max_tokens'] as number,
    ...(body['system'] !== undefined && { system: body['system'] as string }),
    ...(tools && { tools: tools.map(({ input_schema: parameters, ...tool }) => ({ ...tool, parameters })) }),
    ...(choice && {
      toolChoice: choice.type === 'tool' ? { tool: choice.name! } : choice.type === 'any' ? 'required' : 'auto',
    }),
    ...(choice?.disable_parallel_tool_use && { parallel: false }),
    ...(output?.format && { schema: output.format.schema }),
    ...(output?.effort !== undefined && { effort: output.effort }),
    ...(metadata && { user: metadata.user_id }),
  }
}

const STOPS: Readonly<Record<Stop, string>> = {
  end: 'end_turn',
  length: 'max_tokens',
  tools: 'tool_use',
  refusal: 'refusal',
}

function usageJson({ input, output, cached, reasoning }: Counts): Usage {
  return {
    input_tokens: input - (cached ?? 0),
    output_tokens: output,
    ...(cached !== undefined && { cache_read_input_tokens: cached }),
    ...(reasoning !== undefined && { output_tokens_details: { thinking_tokens: reasoning } }),
  }
}

function readUsage(usage: Usage): Counts {
  const { input_tokens: input, output_tokens: output, cache_read_input_tokens: cached = 0 } = usage
  const reasoning = usage.output_tokens_details?.thinking_tokens
  return {
    input: input + cached,
    output,
    ...(cached > 0 && { cached }),
    ...(reasoning !== undefined && { reasoning }),
  }
}

/** The events of a stream; a whole answer as the events that would have told it. */
function eventsOf(raw: string): Event[] {
  if (raw.startsWith('event:')) {
    return raw.split('\n').flatMap((line) => (line.startsWith('data: ') ? (JSON.parse(line.slice(6)) as Event) : []))
  }
  const whole = JSON.parse(raw) as Event
  if (whole.type !== 'message') return [whole]
  const blocks = whole.content!.flatMap((block, index): Event[] => [
    { type: 'content_block_start', index, content_block: { ...block, text: '', thinking: '' } },
    {
      type: 'content_block_delta',
      index,
      delta: {
        ...(block.text && { text: block.text }),
        ...(block.thinking && { thinking: block.thinking }),
        ...(block.signature && { signature: block.signature }),
        ...(block.input && { partial_json: JSON.stringify(block.input) }),
      },
    },
  ])
  return [
    ...blocks,
    { type: 'message_delta', delta: { stop_reason: whole.stop_reason! }, usage: whole.usage! },
    { type: 'message_stop' },
  ]
}

function read(raw: string): Answered {
  const answered: Answered = { text: '', reasoning: '', calls: [] }
  const events = eventsOf(raw)
  const calls = new Map<number, Answered['calls'][number]>()
  for (const { type, index = 0, content_block: block, delta, usage, error } of events) {
    if (type === 'error') answered.error = { code: error!.code ?? error!.type, message: error!.message }
    if (usage) answered.usage = readUsage(usage)
    if (block?.type === 'tool_use') {
      calls.set(index, { id: block.id!, name: block.name!, args: '' })
      answered.calls.push(calls.get(index)!)
    }
    answered.text += delta?.text ?? ''
    answered.reasoning += delta?.thinking ?? ''
    if (delta?.signature) answered.seal = delta.signature
    const call = calls.get(index)
    if (call) call.args += delta?.partial_json ?? ''
    const stop = Object.entries(STOPS).find(([, word]) => word === delta?.stop_reason)
    if (stop) answered.stop = stop[0] as Stop
  }
  if (events.at(-1)?.type !== 'message_stop') answered.error ??= { code: 'cut', message: '' }
  return answered
}

const frame = (event: Json): string => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`

/** A block as it begins, and its pieces. */
function blockOf(piece: Piece): Json[] {
  if ('text' in piece) {
    return [
      { type: 'text', text: '' },
      { type: 'text_delta', text: piece.text },
    ]
  }
  if ('reasoning' in piece) {
    const { reasoning, seal } = piece
    return [
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: reasoning },
      ...(seal === undefined ? [] : [{ type: 'signature_delta', signature: seal }]),
    ]
  }
  const { id, name, args } = piece.call
  return [
    { type: 'tool_use', id, name, input: {} },
    { type: 'input_json_delta', partial_json: args },
  ]
}

function frames({ pieces = [], stop, usage, error }: Script): string[] {
  const counts = usage && usageJson(usage)
  const begin = frame({ type: 'message_start', message: { id: 'msg_1', usage: counts ?? {} } })
  const blocks = pieces.flatMap((piece, index) => {
    const [block, ...deltas] = blockOf(piece)
    return [
      frame({ type: 'content_block_start', index, content_block: block }),
      ...deltas.map((delta) => frame({ type: 'content_block_delta', index, delta })),
      frame({ type: 'content_block_stop', index }),
    ]
  })
  if (error) return [begin, ...blocks, frame(errorBody(error))]
  const end = frame({ type: 'message_delta', delta: { stop_reason: STOPS[stop ?? 'end'] }, usage: counts ?? {} })
  return [begin, ...blocks, end, frame({ type: 'message_stop' })]
}

function whole({ pieces = [], stop, usage }: Script): Json {
  const content = pieces.map((piece) => {
    if ('text' in piece) return { type: 'text', text: piece.text }
    if ('reasoning' in piece) return { type: 'thinking', thinking: piece.reasoning, signature: piece.seal ?? '' }
    const { id, name, args } = piece.call
    return { type: 'tool_use', id, name, input: JSON.parse(args) as Json }
  })
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content,
    stop_reason: STOPS[stop ?? 'end'],
    ...(usage && { usage: usageJson(usage) }),
  }
}

function errorBody({ code, message }: NonNullable<Script['error']>): Json {
  return { type: 'error', error: { type: code, message } }
}

const withMessages = (...messages: unknown[]): Json => ({ ...sound, messages })
const withTool = (tool: unknown): Json => ({ ...sound, tools: [tool] })

export const messages: ModelProtocol = {
  codec: 'anthropic',
  agent: (url) => `protocol: anthropic, url: "${url}"`,
  path: '/v1/messages',
  headers: { 'x-api-key': 'none', 'anthropic-version': '2023-06-01' },
  requestId: 'request-id',
  seals: 'own',
  losses: false,
  write,
  read,
  paramOf: () => null,
  readRequest,
  frames,
  whole,
  errorBody,
  refusal: (code) => ({ status: errors[code].http, code: code.replaceAll('-', '_') }),
  wrong: {
    'half of a JSON text': { body: '{"model":"helper","max_tokens":1,"messages":[' },
    'JSON that is no object': { body: [sound] },
    'no messages': { body: { model: 'helper', max_tokens: 1 } },
    'an empty list of messages': { body: withMessages() },
    'a message that is none': { body: withMessages('hi') },
    'a role that there is not': { body: withMessages({ ...hi, role: 'judge' }) },
    'a content that is a number': { body: user(7) },
    'a part without a type': { body: user([{ text: 'hi' }]) },
    'an image that is no base64': { body: user([IMAGE('§§§')]) },
    'a file that is no base64': { body: user([{ ...IMAGE('§§§'), type: 'document' }]) },
    'a result without its call': {
      body: withMessages(hi, called, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_2' }] }),
    },
    'a result without an id': { body: user([{ type: 'tool_result' }]) },
    'a call without an id': {
      body: withMessages(hi, { role: 'assistant', content: [{ type: 'tool_use', name: 'add', input: {} }] }),
    },
    'tools that are no list': { body: { ...sound, tools: {} } },
    'a tool without a name': { body: withTool({ description: 'adds' }) },
    'a schema of a tool that is none': { body: withTool({ name: 'add', input_schema: { type: 'banana' } }) },
    'a schema of the answer that is missing': { body: { ...sound, output_format: { type: 'json_schema' } } },
    'a schema of the answer that is none': {
      body: { ...sound, output_config: { format: { type: 'json_schema', schema: ['object'] } } },
    },
    'a choice of tools that there is not': { body: { ...sound, tool_choice: { type: 'perhaps' } } },
    'a limit of tokens below one': { body: { ...sound, max_tokens: 0 } },
    'a stream that is neither true nor false': { body: { ...sound, stream: 'yes' } },
    'a model that is a number': { body: { ...sound, model: 7 } },
  },
}
