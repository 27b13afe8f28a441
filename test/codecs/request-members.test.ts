/**
 * Every member of the requests of the three APIs of models: a value that the API's own type does not permit is refused,
 * with the member's name; a value that it permits is taken, and reaches a server of that API where the model has no place
 * for it.
 */
import { describe, expect, test } from 'vitest'
import { codec as anthropic } from '../../codecs/anthropic/index.ts'
import { codec as openai } from '../../codecs/openai/index.ts'
import { type BackDrive, driveBack, driveFront, type FrontDrive } from '../kit/drive.ts'

/** Values of every kind of JSON, by their kinds. */
const VALUES = {
  flag: true,
  text: 'x',
  number: 0.5,
  whole: 1,
  objects: [{ type: 'x' }],
  texts: ['x'],
  numbers: [1],
  nothing: [],
  object: { type: 'x' },
  counts: { x: 1 },
  names: { x: 'y' },
  empty: {},
} as const
type Kind = keyof typeof VALUES

const FLAG: readonly Kind[] = ['flag']
const TEXT: readonly Kind[] = ['text']
const NUMBER: readonly Kind[] = ['number', 'whole']
const WHOLE: readonly Kind[] = ['whole']
const OBJECT: readonly Kind[] = ['object', 'counts', 'names', 'empty']
const NAMES: readonly Kind[] = ['object', 'names', 'empty']
const TEXTS: readonly Kind[] = ['texts', 'nothing']
const OBJECTS: readonly Kind[] = ['objects', 'nothing']
const NONE: readonly Kind[] = []

type Members = Readonly<Record<string, readonly Kind[]>>

/** Members with what they may be; null, too, is nothing. */
const OF_OPENAI: Members = {
  metadata: NAMES,
  moderation: OBJECT,
  parallel_tool_calls: FLAG,
  prompt_cache_key: TEXT,
  prompt_cache_options: OBJECT,
  prompt_cache_retention: TEXT,
  safety_identifier: TEXT,
  service_tier: TEXT,
  store: FLAG,
  stream_options: OBJECT,
  temperature: NUMBER,
  tool_choice: NONE,
  top_logprobs: WHOLE,
  top_p: NUMBER,
  user: TEXT,
  stream: FLAG,
  n: WHOLE,
}

interface Api {
  readonly name: string
  readonly members: Members
  open(body: object): FrontDrive
  /** A server of the same API. */
  serve(): BackDrive
}

const post = (codec: typeof openai | typeof anthropic, dialect: string, path: string, body: object): FrontDrive => {
  const headers = { 'content-type': 'application/json' }
  const drive = driveFront(codec as typeof openai, { dialect, transport: 'http', method: 'POST', path, headers })
  drive.feed(JSON.stringify(body))
  return drive
}
const messages = [{ role: 'user', content: 'hi' }]

const APIS: readonly Api[] = [
  {
    name: 'Chat Completions',
    members: {
      ...OF_OPENAI,
      model: TEXT,
      messages: NONE,
      audio: OBJECT,
      frequency_penalty: NUMBER,
      function_call: NONE,
      functions: NONE,
      logit_bias: ['counts', 'empty'],
      logprobs: FLAG,
      max_completion_tokens: WHOLE,
      max_tokens: WHOLE,
      modalities: TEXTS,
      prediction: OBJECT,
      presence_penalty: NUMBER,
      reasoning_effort: TEXT,
      response_format: ['object'],
      seed: WHOLE,
      stop: [...TEXT, ...TEXTS],
      tools: ['objects', 'nothing'],
      verbosity: TEXT,
      web_search_options: OBJECT,
    },
    open: (body) => post(openai, 'chat', '/v1/chat/completions', { messages, ...body }),
    serve: () => driveBack(openai, { dialect: 'chat' }),
  },
  {
    name: 'Responses',
    members: {
      ...OF_OPENAI,
      model: TEXT,
      input: ['text', 'objects'],
      access_programs: OBJECT,
      background: FLAG,
      background_options: OBJECT,
      context_management: OBJECTS,
      conversation: TEXT,
      image: OBJECT,
      include: TEXTS,
      instructions: TEXT,
      max_output_tokens: WHOLE,
      max_tool_calls: WHOLE,
      prompt: OBJECT,
      reasoning: OBJECT,
      text: OBJECT,
      tool_choice: ['object'],
      tools: ['objects', 'nothing'],
      truncation: TEXT,
    },
    open: (body) => post(openai, 'responses', '/v1/responses', { input: 'hi', ...body }),
    serve: () => driveBack(openai, { dialect: 'responses' }),
  },
  {
    name: 'Messages',
    members: {
      model: TEXT,
      messages: NONE,
      max_tokens: WHOLE,
      betas: TEXTS,
      billing_policy: OBJECT,
      cache_control: ['object'],
      compaction: OBJECT,
      container: [...TEXT, ...OBJECT],
      context_management: OBJECT,
      diagnostics: OBJECT,
      fallback_credit_token: [...TEXT, ...OBJECT],
      fallbacks: [...TEXT, ...OBJECTS],
      inference_geo: TEXT,
      mcp_servers: OBJECTS,
      metadata: OBJECT,
      output_config: OBJECT,
      output_format: ['object'],
      service_tier: TEXT,
      speed: TEXT,
      stop_sequences: TEXTS,
      stream: FLAG,
      system: ['text', 'objects', 'nothing'],
      temperature: NUMBER,
      thinking: NONE,
      thread: OBJECT,
      tool_choice: NONE,
      tools: OBJECTS,
      top_k: WHOLE,
      top_p: NUMBER,
      user_profile_id: TEXT,
      workspace_id: TEXT,
    },
    open: (body) => post(anthropic, 'messages', '/v1/messages', { messages, max_tokens: 9, ...body }),
    serve: () => driveBack(anthropic),
  },
]

/** Members that the gateway answers itself, or says in other words. */
const NOT_SENT: readonly string[] = [
  'model',
  'n',
  'messages',
  'input',
  'background',
  'betas',
  'conversation',
  'max_tokens',
  'safety_identifier',
  'stop',
  'store',
  'stream',
  'stream_options',
  'tools',
]

describe.each(APIS)('a request of $name', ({ members, open, serve }) => {
  const rows = Object.entries(members)

  test.each(rows)('with %s of each kind', (member, kinds) => {
    const verdicts = (Object.keys(VALUES) as Kind[]).map((kind) => {
      const drive = open({ [member]: VALUES[kind] })
      if (drive.commands.length > 0) return [kind, 'taken']
      const { code, message } = drive.faults[0]!.fault
      const isNamed = code === 'invalid-request' && message.startsWith(member)
      return [kind, isNamed ? 'refused' : `${code}: ${message}`]
    })
    expect(verdicts).toEqual(
      (Object.keys(VALUES) as Kind[]).map((kind) => [kind, kinds.includes(kind) ? 'taken' : 'refused']),
    )
  })

  test.each(rows.filter(([member]) => !NOT_SENT.includes(member)))('with %s for a server', (member, kinds) => {
    for (const kind of kinds) {
      if (kind === 'empty' || kind === 'nothing') continue
      const server = serve()
      server.link.encode(open({ [member]: VALUES[kind] }).commands[0]!)
      const sent = JSON.parse((server.calls[0] as { body: string }).body) as Record<string, unknown>
      expect([member, sent[member]]).toEqual([member, VALUES[kind]])
    }
  })

  test('with null, which is nothing', () => {
    for (const [member] of rows) {
      if (member === 'model' || member === 'messages' || member === 'input' || member === 'max_tokens') continue
      expect(open({ [member]: null }).faults).toEqual([])
    }
  })
})

describe('a member within another is named by its path', () => {
  const [chat, responses, ofMessages] = APIS.map(({ open }) => open)
  test.each([
    [chat, { stream_options: { include_usage: 1 } }, 'stream_options.include_usage must be true or false'],
    [chat, { metadata: { a: 1 } }, 'metadata.a must be a string'],
    [chat, { logit_bias: { 50: 'x' } }, 'logit_bias'],
    [
      chat,
      { response_format: { type: 'json_schema', json_schema: [] } },
      'response_format.json_schema must be an object',
    ],
    [chat, { response_format: [] }, 'response_format must be an object'],
    [chat, { tools: [[]] }, 'tools[0] must be an object'],
    [chat, { tools: [{ type: 'function', function: [] }] }, 'tools[0].function must be an object'],
    [chat, { tools: [{ type: 'custom', custom: [] }] }, 'tools[0].custom must be an object'],
    [chat, { tool_choice: { type: 'function', function: [] } }, 'tool_choice'],
    [chat, { functions: [] }, 'functions is not supported; send tools'],
    [chat, { modalities: ['text', 1] }, 'modalities[1] must be a string'],
    [responses, { metadata: { a: {} } }, 'metadata.a must be a string'],
    [responses, { text: { verbosity: 1 } }, 'text.verbosity must be a string'],
    [responses, { text: { format: [] } }, 'text.format must be an object'],
    [responses, { reasoning: { effort: 1 } }, 'reasoning.effort must be a string'],
    [responses, { conversation: [] }, 'conversation must be the id of a conversation'],
    [responses, { tools: [[]] }, 'tools[0] must be an object with a type'],
    [responses, { context_management: [1] }, 'context_management[0] must be an object'],
    [
      ofMessages,
      { thinking: { type: 'deep' } },
      'thinking.type must be one of adaptive|between_tools|disabled|enabled',
    ],
    [ofMessages, { thinking: { type: 'enabled' } }, 'thinking.budget_tokens is missing'],
    [
      ofMessages,
      { thinking: { type: 'enabled', budget_tokens: 0.5 } },
      'thinking.budget_tokens must be a whole number',
    ],
    [ofMessages, { metadata: { user_id: 1 } }, 'metadata.user_id must be a string'],
    [ofMessages, { output_config: { format: [] } }, 'output_config.format must be an object'],
    [ofMessages, { tools: [[]] }, 'tools[0] must be an object'],
    [ofMessages, { tool_choice: [] }, 'tool_choice must be an object'],
    [ofMessages, { cache_control: {} }, 'cache_control.type is missing'],
    [ofMessages, { mcp_servers: [[]] }, 'mcp_servers[0] must be an object'],
    [ofMessages, { stop_sequences: [1] }, 'stop_sequences[0] must be a string'],
  ])('%# %j', (open, body, message) => {
    const drive = open!(body)
    expect(drive.commands).toEqual([])
    expect(drive.faults[0]!.fault).toMatchObject({ code: 'invalid-request', message: expect.stringContaining(message) })
  })
})
