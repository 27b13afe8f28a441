/** What a server of models answers in the benchmarks, in each of its APIs. */
import { MARK } from './answers.ts'

/** An API of models. */
export type ModelApi = 'chat' | 'responses' | 'messages'

interface Answer {
  whole: object
  events: readonly object[]
}

const textsOf = (events: number): string[] => Array.from({ length: events }, (_, at) => ` ${MARK}${at}`)

/** The whole answer in so many pieces, as JSON. */
export function modelAnswer(api: ModelApi, events: number): string {
  return JSON.stringify(ANSWERS[api](textsOf(events)).whole)
}

/** The server-sent events of a streamed answer. */
export function modelEvents(api: ModelApi, events: number): string[] {
  const frames = ANSWERS[api](textsOf(events)).events.map((event) => {
    const name = api === 'chat' ? '' : `event: ${(event as { type: string }).type}\n`
    return `${name}data: ${JSON.stringify(event)}\n\n`
  })
  return api === 'chat' ? [...frames, 'data: [DONE]\n\n'] : frames
}

const ANSWERS: Readonly<Record<ModelApi, (texts: readonly string[]) => Answer>> = { chat, responses, messages }

function chat(texts: readonly string[]): Answer {
  const head = { id: 'chatcmpl-1', created: 1, model: 'm' }
  const usage = { prompt_tokens: 1, completion_tokens: texts.length, total_tokens: texts.length + 1 }
  const chunk = (delta: object, finish_reason: string | null = null): object => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const message = { role: 'assistant', content: texts.join('') }
  return {
    whole: { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage },
    events: [
      chunk({ role: 'assistant', content: '' }),
      ...texts.map((content) => chunk({ content })),
      chunk({}, 'stop'),
      { ...head, object: 'chat.completion.chunk', choices: [], usage },
    ],
  }
}

function responses(texts: readonly string[]): Answer {
  const text = texts.join('')
  const part = { type: 'output_text', text, annotations: [] }
  const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part] }
  const usage = { input_tokens: 1, output_tokens: texts.length, total_tokens: texts.length + 1 }
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    error: null,
    incomplete_details: null,
  }
  const whole = { ...response, status: 'completed', output: [item], usage }
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
    ...texts.map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
    { type: 'response.output_text.done', ...at, text },
    { type: 'response.content_part.done', ...at, part },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole },
  ]
  return { whole, events: events.map((event, sequence_number) => ({ ...event, sequence_number })) }
}

function messages(texts: readonly string[]): Answer {
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null }
  const usage = { input_tokens: 1, output_tokens: texts.length }
  return {
    whole: { ...head, content: [{ type: 'text', text: texts.join('') }], stop_reason: 'end_turn', usage },
    events: [
      {
        type: 'message_start',
        message: { ...head, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...texts.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: texts.length },
      },
      { type: 'message_stop' },
    ],
  }
}
