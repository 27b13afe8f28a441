import { describeEndings, type Endings } from './endings.ts'
import { CLIENTS, FILES } from './openai-clients.ts'

const data = (json: unknown): string => `data: ${JSON.stringify(json)}\n\n`
const chunk = (delta: object, finish_reason: string | null = null): string =>
  data({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  })
const TEXT = chunk({ role: 'assistant', content: '' }) + chunk({ content: 'Hel' }) + chunk({ content: 'lo.' })
const DONE = 'data: [DONE]\n\n'
const ERROR = data({ error: { message: 'Overloaded.', type: 'server_error', code: 'overloaded' } })
const call = (more: object) =>
  chunk({ tool_calls: [{ index: 0, type: 'function', function: { name: 'add', arguments: '{"a":1}' }, ...more }] })

const WAYS: Endings['ways'] = {
  'as it should': [{ body: TEXT + chunk({}, 'stop') + DONE }, ['Hello.', 'stop', 0]],
  'without [DONE]': [{ body: TEXT + chunk({}, 'stop') }, ['Hello.', 'stop', 0]],
  'with comments between': [{ body: `: ping\n\n${TEXT}: ping\n\n${chunk({}, 'stop')}${DONE}` }, ['Hello.', 'stop', 0]],
  'at its limit of tokens': [{ body: TEXT + chunk({}, 'length') + DONE }, ['Hello.', 'length', 0]],
  'at a filter': [{ body: TEXT + chunk({}, 'content_filter') + DONE }, ['Hello.', 'content_filter', 0]],
  'twice, with more text between': [
    { body: TEXT + chunk({}, 'stop') + chunk({ content: ' Bye.' }) + chunk({}, 'length') + DONE },
    ['Hello. Bye.', 'stop', 0],
  ],
  'with a call': [{ body: TEXT + call({ id: 'a' }) + chunk({}, 'tool_calls') + DONE }, ['Hello.', 'tool_calls', 1]],
  'with a call without an id': [{ body: call({}) + chunk({}, 'tool_calls') + DONE }, ['', 'tool_calls', 1]],
  'with a call, text behind it, and a second end': [
    { body: call({ id: 'a' }) + chunk({}, 'tool_calls') + chunk({ content: 'Hello.' }) + chunk({}, 'stop') + DONE },
    ['Hello.', 'tool_calls', 1],
  ],
  'with nothing at all': [{ body: '' }, 'an error'],
  'without a finish reason': [{ body: TEXT }, 'an error'],
  'with [DONE] alone': [{ body: TEXT + DONE }, 'an error'],
  'with a cut connection': [{ body: TEXT, cut: true }, 'an error'],
  'in the middle of a chunk': [{ body: `${TEXT}data: {"choi`, cut: true }, 'an error'],
  'with an error before its text': [{ body: ERROR }, 'an error'],
  'with an error behind its text': [{ body: TEXT + ERROR + DONE }, 'an error'],
  'with an error behind its end': [{ body: TEXT + chunk({}, 'stop') + ERROR }, 'an error'],
  'with the finish reason "error"': [{ body: TEXT + chunk({}, 'error') + DONE }, 'an error'],
  'with something that is no chunk': [{ body: `${TEXT}data: oops\n\n${chunk({}, 'stop')}${DONE}` }, 'an error'],
  'with a failing status': [
    { status: 500, type: 'application/json', body: '{"error":{"message":"Broken."}}' },
    'an error',
  ],
}
describeEndings('endings as clients of OpenAI’s Chat Completions see them', {
  clients: CLIENTS,
  files: FILES,
  agent: (url) => `protocol: openai, url: "${url}/v1"`,
  mark: '1017',
  ways: WAYS,
  half: { body: TEXT, reports: [['Hello.', 'undefined', 0], 'an error', 'an error', ['Hello.', 'undefined', 0]] },
})
