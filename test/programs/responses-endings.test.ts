import { describeEndings, type Endings } from './endings.ts'
import { CLIENTS, FILES } from './responses-clients.ts'

const event = (type: string, more: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
const item = (text: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})
const DELTAS = ['Hel', 'lo.']
  .map((delta) => event('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta }))
  .join('')
const ADDED = event('response.output_item.added', { output_index: 0, item: { ...item(''), content: [] } })
const DONE = event('response.output_item.done', { output_index: 0, item: item('Hello.') })
const TEXT = ADDED + DELTAS + DONE
const ended = (status: string, more: object = {}): string =>
  event(`response.${status}`, { response: { id: 'resp_1', object: 'response', status, output: [], ...more } })
const COMPLETED = ended('completed')
const FAILED = ended('failed', { error: { code: 'server_error', message: 'Broken.' } })
const call = (more: object) =>
  event('response.output_item.done', {
    output_index: 1,
    item: { id: 'fc_1', type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":1}', ...more },
  })
const whole = JSON.stringify({ object: 'response', status: 'completed', output: [item('Hello.')] })

const WAYS: Endings['ways'] = {
  'as it should': [{ body: TEXT + COMPLETED }, ['Hello.', 'completed', 0]],
  'with [DONE]': [{ body: `${TEXT}${COMPLETED}data: [DONE]\n\n` }, ['Hello.', 'completed', 0]],
  'with comments between': [{ body: `: ping\n\n${TEXT}: ping\n\n${COMPLETED}` }, ['Hello.', 'completed', 0]],
  'without the end of its item': [{ body: ADDED + DELTAS + COMPLETED }, ['Hello.', 'completed', 0]],
  'with text of an item that has not begun': [{ body: DELTAS + COMPLETED }, ['Hello.', 'completed', 0]],
  'with the end of its item alone': [{ body: DONE + COMPLETED }, ['Hello.', 'completed', 0]],
  'with its last event alone': [{ body: ended('completed', { output: [item('Hello.')] }) }, ['Hello.', 'completed', 0]],
  'in one piece': [{ type: 'application/json', body: whole }, ['Hello.', 'completed', 0]],
  'with an event of an unknown type': [
    { body: event('response.dance', { step: 1 }) + TEXT + COMPLETED },
    ['Hello.', 'completed', 0],
  ],
  'with a tool of its own': [
    {
      body:
        event('response.output_item.done', {
          output_index: 0,
          item: { id: 'mcp_1', type: 'mcp_call', name: 'roll', arguments: '{}', server_label: 'dice', output: '4' },
        }) +
        event('response.output_item.done', { output_index: 1, item: item('Hello.') }) +
        COMPLETED,
    },
    ['Hello.', 'completed', 0],
  ],
  'at its limit of tokens': [
    { body: TEXT + ended('incomplete', { incomplete_details: { reason: 'max_output_tokens' } }) },
    ['Hello.', 'incomplete', 0],
  ],
  'with a call': [{ body: TEXT + call({}) + COMPLETED }, ['Hello.', 'completed', 1]],
  'with nothing at all': [{ body: '' }, 'an error'],
  'without its last event': [{ body: TEXT }, 'an error'],
  'with [DONE] alone': [{ body: `${TEXT}data: [DONE]\n\n` }, 'an error'],
  'with a cut connection': [{ body: TEXT, cut: true }, 'an error'],
  'in the middle of an event': [{ body: `${TEXT}data: {"typ`, cut: true }, 'an error'],
  'with a failure': [{ body: FAILED }, 'an error'],
  'with a failure behind its text': [{ body: TEXT + FAILED }, 'an error'],
  'with an error behind its text': [
    { body: TEXT + event('error', { code: 'server_error', message: 'Broken.' }) },
    'an error',
  ],
  'with something that is no event': [{ body: `${TEXT}data: oops\n\n${COMPLETED}` }, 'an error'],
  'with a failing status': [
    { status: 500, type: 'application/json', body: '{"error":{"message":"Broken."}}' },
    'an error',
  ],
}
describeEndings('endings as clients of OpenAI’s Responses API see them', {
  clients: CLIENTS,
  files: FILES,
  agent: (url) => `protocol: openai@responses, url: "${url}/v1"`,
  mark: '1019',
  ways: WAYS,
  finish: (given) => (given === 'incomplete' || given === 'length' ? 'incomplete' : 'completed'),
})
