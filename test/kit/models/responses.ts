/** OpenAI's Responses, as its clients and servers write it. */
import { errors } from '../../../codecs/openai/errors.ts'
import type { Answered, Asked, Counts, Json, ModelProtocol, Said, Script } from './protocol.ts'
import { wrongs } from './responses-wrong.ts'

interface Part {
  type: string
  text?: string
  refusal?: string
  image_url?: string
}
interface Item {
  type?: string
  role?: string
  id?: string
  status?: string
  call_id?: string
  name?: string
  arguments?: string
  output?: string
  content?: string | Part[]
  summary?: Part[]
  encrypted_content?: string
}
interface Response {
  status?: string
  output?: Item[]
  usage?: Json & { input_tokens: number; output_tokens: number }
  error?: { code: string; message: string } | null
  incomplete_details?: { reason: string } | null
  metadata?: { turnpike_losses?: string }
}
interface Event {
  type: string
  delta?: string
  item?: Item
  response?: Response
  code?: string
  message?: string
  error?: { code: string; message: string }
}

function itemsOf({ role, text, image, calls = [], thought, result }: Said): Json[] {
  if (role === 'tool') return [{ type: 'function_call_output', call_id: result, output: text }]
  const kind = role === 'assistant' ? 'output_text' : 'input_text'
  const content = [
    ...(text === undefined ? [] : [{ type: kind, text }]),
    ...(image === undefined ? [] : [{ type: 'input_image', image_url: `data:image/png;base64,${image}` }]),
  ]
  const summary = [{ type: 'summary_text', text: thought?.text }]
  return [
    ...(thought ? [{ type: 'reasoning', id: 'rs_1', summary, encrypted_content: thought.seal }] : []),
    ...(content.length === 0 ? [] : [{ type: 'message', role, content }]),
    ...calls.map(({ id, name, args }) => ({ type: 'function_call', call_id: id, name, arguments: args })),
  ]
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
  const choice = typeof toolChoice === 'object' ? { type: 'function', name: toolChoice.tool } : toolChoice
  return {
    model,
    input: messages.flatMap(itemsOf),
    ...(system !== undefined && { instructions: system }),
    ...(tools && { tools: tools.map((tool) => ({ type: 'function', ...tool })) }),
    ...(choice !== undefined && { tool_choice: choice }),
    ...(parallel !== undefined && { parallel_tool_calls: parallel }),
    ...(schema && { text: { format: { type: 'json_schema', name: 'answer', schema } } }),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...(effort !== undefined && { reasoning: { effort } }),
    ...(user !== undefined && { safety_identifier: user }),
    ...(stream && { stream }),
    store: false,
  }
}

/** A message and the calls that follow it are one, as in the terms that all protocols share. */
function readRequest(body: Json): Asked {
  const items = body['input'] as Item[]
  const messages: Said[] = []
  let thought: Said['thought']
  for (const item of items) {
    const last = messages.at(-1)
    if (item.type === 'function_call_output') {
      messages.push({ role: 'tool', text: item.output!, result: item.call_id! })
    } else if (item.type === 'function_call') {
      const call = { id: item.call_id!, name: item.name!, args: item.arguments! }
      if (last?.role === 'assistant') last.calls = [...(last.calls ?? []), call]
      else messages.push({ role: 'assistant', calls: [call] })
    } else if (item.type === 'reasoning') {
      thought = { text: item.summary!.map(({ text }) => text).join(''), seal: item.encrypted_content! }
      continue
    } else messages.push(readMessage(item))
    const said = messages.at(-1)!
    if (thought && said.role === 'assistant') said.thought = thought
    thought = undefined
  }
  const tools = body['tools'] as (NonNullable<Asked['tools']>[number] & { type: string })[] | undefined
  const choice = body['tool_choice'] as string | { name: string } | undefined
  const format = (body['text'] as { format?: { schema: Json } } | undefined)?.format
  return {
    model: body['model'] as string,
    messages,
    ...(body['instructions'] !== undefined && { system: body['instructions'] as string }),
    ...(tools && { tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })) }),
    ...(choice !== undefined && {
      toolChoice: typeof choice === 'string' ? (choice as 'auto') : { tool: choice.name },
    }),
    ...(body['parallel_tool_calls'] !== undefined && { parallel: body['parallel_tool_calls'] as boolean }),
    ...(format && { schema: format.schema }),
    ...(body['reasoning'] !== undefined && { effort: (body['reasoning'] as { effort: string }).effort }),
    ...(body['user'] !== undefined && { user: body['user'] as string }),
    ...(body['max_output_tokens'] !== undefined && { maxTokens: body['max_output_tokens'] as number }),
  }
}

function readMessage({ role, content }: Item): Said {
  const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : (content ?? [])
  const text = parts.flatMap((part) => part.text ?? []).join('\n')
  const url = parts.flatMap((part) => ('image_url' in part ? (part.image_url ?? []) : [])).at(0)
  return {
    role: role as Said['role'],
    ...(text !== '' && { text }),
    ...(url !== undefined && { image: url.replace('data:image/png;base64,', '') }),
  }
}

function usageJson({ input, output, cached = 0, reasoning = 0 }: Counts): Json {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  }
}

function readUsage(usage: NonNullable<Response['usage']>): Counts {
  const { cached_tokens: cached = 0 } = (usage['input_tokens_details'] ?? {}) as { cached_tokens?: number }
  const { reasoning_tokens: reasoning = 0 } = (usage['output_tokens_details'] ?? {}) as { reasoning_tokens?: number }
  return {
    input: usage.input_tokens,
    output: usage.output_tokens,
    ...(cached > 0 && { cached }),
    ...(reasoning > 0 && { reasoning }),
  }
}

function read(raw: string): Answered {
  const answered: Answered = { text: '', reasoning: '', calls: [] }
  if (!raw.startsWith('event:')) {
    const whole = JSON.parse(raw) as Response
    for (const item of whole.output ?? []) readItem(item, answered)
    return readEnd(whole, answered)
  }
  const events = raw
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? (JSON.parse(line.slice(6)) as Event) : []))
  let ended = false
  for (const { type, delta = '', item, response, ...more } of events) {
    if (type === 'response.output_text.delta' || type === 'response.refusal.delta') answered.text += delta
    if (/^response\.reasoning(_summary)?_text\.delta$/.test(type)) answered.reasoning += delta
    if (type === 'response.output_item.done') {
      if (item!.type === 'function_call') readItem(item!, answered)
      if (item!.encrypted_content) answered.seal = item!.encrypted_content
    }
    if (type === 'error') answered.error = { code: (more.error ?? more).code!, message: (more.error ?? more).message! }
    if (type === 'error') ended = true
    if (!/^response\.(completed|incomplete|failed)$/.test(type)) continue
    readEnd(response!, answered)
    ended = true
  }
  if (!ended) answered.error = { code: 'cut', message: '' }
  return answered
}

function readItem(item: Item, answered: Answered): void {
  const { type, content, summary = [], call_id, name, arguments: args, encrypted_content: seal } = item
  if (seal) answered.seal = seal
  const textOf = (parts: Item['content']) =>
    Array.isArray(parts) ? parts.map((part) => part.text ?? part.refusal ?? '').join('') : (parts ?? '')
  if (type === 'message') answered.text += textOf(content)
  if (type === 'reasoning') answered.reasoning += textOf(summary) || textOf(content)
  if (type === 'function_call') answered.calls.push({ id: call_id!, name: name!, args: args! })
}

function readEnd(
  { status, usage, error, incomplete_details: why, metadata, output = [] }: Response,
  to: Answered,
): Answered {
  if (error) to.error = { code: error.code, message: error.message }
  if (usage) to.usage = readUsage(usage)
  if (metadata?.turnpike_losses) to.losses = JSON.parse(metadata.turnpike_losses) as NonNullable<Answered['losses']>
  const refused = output.some(({ content }) => Array.isArray(content) && content.some(({ type }) => type === 'refusal'))
  if (status === 'completed') to.stop = to.calls.length > 0 ? 'tools' : refused ? 'refusal' : 'end'
  if (status === 'incomplete') to.stop = why?.reason === 'max_output_tokens' ? 'length' : 'refusal'
  return to
}

const message = (id: string, parts: Part[]): Item => ({
  type: 'message',
  id,
  role: 'assistant',
  status: 'completed',
  content: parts,
})

/** The items of an answer, in order. */
function output({ pieces = [], stop }: Script): Item[] {
  const items: Item[] = []
  for (const [at, piece] of pieces.entries()) {
    const last = items.at(-1)
    if ('call' in piece) {
      const { id, name, args } = piece.call
      items.push({ type: 'function_call', id: `fc_${at}`, call_id: id, name, arguments: args })
    } else if ('reasoning' in piece) {
      items.push({
        type: 'reasoning',
        id: `rs_${at}`,
        summary: [{ type: 'summary_text', text: piece.reasoning }],
        ...(piece.seal && { encrypted_content: piece.seal }),
      })
    } else if (last?.type === 'message') (last.content as Part[])[0]!.text += piece.text
    else items.push(message(`msg_${at}`, [{ type: 'output_text', text: piece.text }]))
  }
  if (stop !== 'refusal') return items
  return items.map((item) =>
    item.type === 'message'
      ? message(item.id!, [{ type: 'refusal', refusal: (item.content as Part[])[0]!.text! }])
      : item,
  )
}

function response(script: Script, status: string, items: readonly Item[]): Json {
  const { stop, usage } = script
  const incomplete = stop === 'length'
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    model: 'scripted',
    status: incomplete && status === 'completed' ? 'incomplete' : status,
    output: items,
    error: null,
    incomplete_details: incomplete ? { reason: 'max_output_tokens' } : null,
    ...(usage && { usage: usageJson(usage) }),
  }
}

const frame = (event: Json): string => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`

function frames(script: Script): string[] {
  const items = output(script)
  const begin = frame({ type: 'response.created', response: response({}, 'in_progress', []) })
  const said = items.flatMap((item, output_index) => {
    const at = { output_index, item_id: item.id }
    const part = { content_index: 0, ...at }
    const deltas =
      item.type === 'function_call'
        ? [{ type: 'response.function_call_arguments.delta', ...at, delta: item.arguments }]
        : item.type === 'reasoning'
          ? [{ type: 'response.reasoning_summary_text.delta', summary_index: 0, ...at, delta: item.summary![0]!.text }]
          : (item.content as Part[]).flatMap(({ type, text, refusal }) =>
              // The first word alone, then the rest.
              (text ?? refusal)!
                .split(/(?<=^\S+ )/)
                .map((delta) => ({ type: `response.${type}.delta`, ...part, delta })),
            )
    const empty = {
      ...item,
      ...(item.arguments !== undefined ? { arguments: '' } : {}),
      ...(item.content && { content: [] }),
      ...(item.summary && { summary: [] }),
    }
    return [
      { type: 'response.output_item.added', output_index, item: empty },
      ...deltas,
      { type: 'response.output_item.done', output_index, item },
    ].map(frame)
  })
  const { error, stop } = script
  if (error) return [begin, ...said, frame({ type: 'error', code: error.code, message: error.message, param: null })]
  const type = stop === 'length' ? 'response.incomplete' : 'response.completed'
  return [begin, ...said, frame({ type, response: response(script, 'completed', items) })]
}

export const responses: ModelProtocol = {
  codec: 'openai',
  agent: (url) => `protocol: openai@responses, url: "${url}/v1"`,
  path: '/v1/responses',
  headers: { authorization: 'Bearer none' },
  requestId: 'x-request-id',
  seals: 'any',
  losses: false,
  write,
  read,
  paramOf: (raw) => (JSON.parse(raw) as { error: { param: string | null } }).error.param,
  readRequest,
  frames,
  whole: (script) => response(script, 'completed', output(script)),
  errorBody: ({ code, message: said }) => ({ error: { message: said, type: 'server_error', code, param: null } }),
  refusal: (code) => ({ status: errors[code].http, code: errors[code].code }),
  wrong: wrongs,
}
