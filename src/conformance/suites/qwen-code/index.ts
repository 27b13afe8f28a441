import { ANY, bigText, END, type JsonRecord, type ProtocolSuites, type SeenLine, type Suite } from '../../kit/index.ts'
import { agentRules } from './agent.ts'
import { clientRules, play } from './client.ts'

const line = (fields: JsonRecord): { write: string } => ({
  write: `${JSON.stringify(fields).replaceAll('\u2028', '\\u2028')}\n`,
})
const control = (request_id: string, subtype: string): { write: string } =>
  line({ type: 'control_request', request_id, request: { subtype } })
const user = (content: string): { write: string } => line({ type: 'user', message: { role: 'user', content } })
const result = { until: ({ object }: SeenLine): boolean => object?.['type'] === 'result' }
const replied = { until: ({ object }: SeenLine): boolean => object?.['type'] === 'control_response' }
const HELLO = [control('init-1', 'initialize'), replied]

/** Refuses an agent's questions: a test must not change the machine it runs on. */
const deny = ({ type, request_id }: JsonRecord): readonly string[] =>
  type === 'control_request'
    ? [
        line({
          type: 'control_response',
          response: { subtype: 'success', request_id, response: { behavior: 'deny', message: 'a test' } },
        }).write,
      ]
    : []

/** The tests of the wire that shipped. */
const suite: Suite = {
  framing: 'lines',
  http: false,
  env: [],
  scenarios: [
    {
      name: 'prompt',
      steps: [...HELLO, user('Reply with the word ok.'), result, user('Again.'), result, END],
      answer: deny,
    },
    {
      name: 'blocks',
      steps: [
        ...HELLO,
        line({ type: 'user', message: { role: 'user', content: [{ type: 'text', text: 'Reply with the word ok.' }] } }),
        result,
        END,
      ],
      answer: deny,
    },
    { name: 'idle-interrupt', steps: [...HELLO, control('int-1', 'interrupt'), replied, END] },
    { name: 'in-flight', steps: [...HELLO, user('Reply with the word ok.'), END], answer: deny },
    {
      name: 'unicode',
      steps: [control('ü-😀', 'initialize'), replied, user('“é” 😀 \u2028'), result, END],
      answer: deny,
    },
    { name: 'big', steps: [...HELLO, user(bigText(200_000)), result, END], answer: deny },
    { name: 'malformed', steps: [...HELLO, { write: '{"type":"user",\n' }, END] },
    {
      name: 'terminate',
      steps: [...HELLO, user('Count to five hundred.'), ANY, { terminate: true }],
    },
  ],
  agent: agentRules,
  client: clientRules,
  play,
  hostile: {
    prefix: 'qwen-code',
    form: 'objects',
    section: '4 Lifetime',
    isLast: (frame) => frame.includes('"type":"result"'),
    agents: {
      'blank-lines-and-crlf': 'answer',
      'no-newline-at-the-end': 'answer',
      'unknown-messages-and-fields': 'answer',
    },
    turns: {
      many: true,
      opening: HELLO,
      request: (_id, content) => ({ type: 'user', message: { role: 'user', content } }),
      unknown: { type: 'no_such' },
      endOf: ({ type }) => (type === 'result' ? '' : undefined),
      silentRefusal: true,
      answer: deny,
    },
  },
}

/** The tests of the wire that Qwen Code ships with. */
export const conformance: ProtocolSuites = { suites: { code: suite }, program: 'qwen' }
