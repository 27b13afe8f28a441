import { CLIENTS, FILES } from './anthropic-clients.ts'
import { describeEndings, type Endings } from './endings.ts'

const event = (json: { type: string } & Record<string, unknown>): string =>
  `event: ${json.type}\ndata: ${JSON.stringify(json)}\n\n`
const BEGIN = event({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1 } },
})
const block = (index: number, content_block: object, delta: object): string =>
  event({ type: 'content_block_start', index, content_block }) +
  event({ type: 'content_block_delta', index, delta }) +
  event({ type: 'content_block_stop', index })
const text = (said: string, index = 0): string =>
  block(index, { type: 'text', text: '' }, { type: 'text_delta', text: said })
const call = (index: number, args = '{"a":1}'): string =>
  block(
    index,
    { type: 'tool_use', id: 'toolu_1', name: 'add', input: {} },
    { type: 'input_json_delta', partial_json: args },
  )
const stopped = (stop_reason: string): string =>
  event({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 2 } })
const STOP = event({ type: 'message_stop' })
const HELLO = BEGIN + text('Hello.')
const ERROR = event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded.' } })
const PING = event({ type: 'ping' })

const WAYS: Endings['ways'] = {
  'as it should': [{ body: HELLO + stopped('end_turn') + STOP }, ['Hello.', 'end_turn', 0]],
  'with pings and comments between': [
    { body: `${BEGIN}${PING}: x\n\n${text('Hello.')}${PING}${stopped('end_turn')}${PING}${STOP}` },
    ['Hello.', 'end_turn', 0],
  ],
  'with lines that end with CR LF': [
    { body: (HELLO + stopped('end_turn') + STOP).replaceAll('\n', '\r\n') },
    ['Hello.', 'end_turn', 0],
  ],
  'without names of events': [
    { body: (HELLO + stopped('end_turn') + STOP).replaceAll(/event: .*\n/g, '') },
    ['Hello.', 'end_turn', 0],
  ],
  'with events and blocks of a later version': [
    {
      body:
        HELLO +
        event({ type: 'later' }) +
        block(1, { type: 'hologram' }, { type: 'light', x: 1 }) +
        stopped('end_turn') +
        STOP,
    },
    ['Hello.', 'end_turn', 0],
  ],
  'without usage': [
    {
      body:
        event({ type: 'message_start', message: {} }) +
        text('Hello.') +
        event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }) +
        STOP,
    },
    ['Hello.', 'end_turn', 0],
  ],
  'at its limit of tokens': [{ body: HELLO + stopped('max_tokens') + STOP }, ['Hello.', 'max_tokens', 0]],
  'with a refusal': [{ body: HELLO + stopped('refusal') + STOP }, ['Hello.', 'refusal', 0]],
  'with a stop reason of its own': [{ body: HELLO + stopped('cancelled') + STOP }, ['Hello.', 'end_turn', 0]],
  'without its last event': [{ body: HELLO + stopped('end_turn') }, ['Hello.', 'end_turn', 0]],
  'with a call': [{ body: HELLO + call(1) + stopped('tool_use') + STOP }, ['Hello.', 'tool_use', 1]],
  'with a call, and text behind it': [
    { body: BEGIN + call(0) + text('Hello.', 1) + stopped('tool_use') + STOP },
    ['Hello.', 'tool_use', 1],
  ],
  'within the arguments of a call': [
    { body: HELLO + call(1, '{"a":') + stopped('max_tokens') + STOP },
    ['Hello.', 'max_tokens', 0],
  ],
  'with nothing at all': [{ body: '' }, 'an error'],
  'with its first event alone': [{ body: BEGIN }, 'an error'],
  'without a stop reason': [{ body: HELLO }, 'an error'],
  'with its last event, but no stop reason': [{ body: HELLO + STOP }, 'an error'],
  'with a cut connection': [{ body: HELLO, cut: true }, 'an error'],
  'in the middle of an event': [{ body: `${HELLO}event: message_delta\ndata: {"ty`, cut: true }, 'an error'],
  'with an error before its text': [{ body: ERROR }, 'an error'],
  'with an error behind its text': [{ body: HELLO + ERROR }, 'an error'],
  'with an error behind its stop reason': [{ body: HELLO + stopped('end_turn') + ERROR }, 'an error'],
  'with something that is no event': [{ body: `${HELLO}data: oops\n\n${stopped('end_turn')}${STOP}` }, 'an error'],
  'with a failing status': [
    {
      status: 500,
      type: 'application/json',
      body: '{"type":"error","error":{"type":"api_error","message":"Broken."}}',
    },
    'an error',
  ],
}
describeEndings('endings as clients of Anthropic’s Messages see them', {
  clients: CLIENTS,
  files: FILES,
  agent: (url) => `protocol: anthropic, url: "${url}"`,
  mark: '1018',
  ways: WAYS,
  half: {
    body: HELLO,
    reports: [['Hello.', 'undefined', 0], 'an error', ['Hello.', 'interrupted', 0]],
  },
})
