import {
  ANY,
  bigText,
  END,
  type JsonRecord,
  type ProtocolSuites,
  RUN_ID,
  type SeenLine,
  type Suite,
} from '../../kit/index.ts'
import { agentRules, isEnd } from './agent.ts'
import { clientRules, play } from './client.ts'

const line = (fields: JsonRecord): { write: string } => ({
  write: `${JSON.stringify(fields).replaceAll('\u2028', '\\u2028')}\n`,
})
const SESSION = `conformance-${RUN_ID}`
const chat = (id: string, text: string): JsonRecord => ({
  session_id: '_new',
  prompt_id: `${id}########1`,
  input: { origin: 'user', parts: [{ type: 'text', text }], command: null },
  options: {},
})
const request = (text: string): { write: string } => line(chat(SESSION, text))
const ASK = 'Reply with the word ok.'
const ended = { until: ({ object }: SeenLine): boolean => object !== undefined && isEnd(object) }
const untilType = (type: string): { until: (line: SeenLine) => boolean } => ({
  until: ({ object }) => object?.['type'] === type,
})

/** Refuses an agent's questions: a test must not change the machine it runs on. */
const deny = ({ type, request_id }: JsonRecord): readonly string[] =>
  type === 'control_request'
    ? [
        line({
          type: 'control_response',
          request_id,
          response: { subtype: 'success', result: { behavior: 'deny', message: 'a test' } },
        }).write,
      ]
    : []

/** The tests of the RFC. */
const suite: Suite = {
  framing: 'lines',
  http: false,
  env: [],
  scenarios: [
    { name: 'prompt', steps: [request(ASK), ended, END], answer: deny },
    {
      name: 'openai',
      steps: [line({ model: 'any', messages: [{ role: 'user', content: ASK }] }), ended, END],
      answer: deny,
    },
    {
      name: 'heartbeat',
      steps: [line({ type: 'heartbeat_request', session_id: SESSION }), untilType('result/heartbeat'), END],
    },
    {
      name: 'hint',
      steps: [
        line({
          type: 'command_hint_request',
          session_id: SESSION,
          prompt_id: `${SESSION}########preview`,
          trigger: 'slash',
          text: '/c',
          cursor: 2,
        }),
        untilType('result/command_hint'),
        END,
      ],
    },
    {
      name: 'cancel-nothing',
      steps: [
        line({ type: 'control/cancel', session_id: SESSION, prompt_id: `${SESSION}########8`, reason: 'escape' }),
        untilType('result/cancel'),
        END,
      ],
    },
    {
      name: 'malformed',
      steps: [{ write: '{"input":\n' }, ANY, END],
    },
    { name: 'unicode', steps: [request('“é” 😀 \u2028'), ended, END], answer: deny },
    { name: 'big', steps: [request(bigText(200_000)), ended, END], answer: deny },
    { name: 'terminate', steps: [request('Count to five hundred.'), ANY, { terminate: true }] },
  ],
  agent: agentRules,
  client: clientRules,
  play,
  hostile: {
    prefix: 'qwen',
    form: 'objects',
    section: '10 版本协商与错误语义',
    isLast: (frame) => frame.includes('"finish_reason":"stop"'),
    // Completions of one turn are all of its answer.
    clients: { 'answers-twice': 'untried', 'frames-after-the-end': 'untried' },
    turns: {
      many: true,
      request: chat,
      ids: ['prompt_id'],
      cancel: (id) => ({ type: 'control/cancel', session_id: SESSION, prompt_id: id, reason: 'escape' }),
      unknown: { type: 'no_such' },
      endOf: (said) => (isEnd(said) ? '' : undefined),
      answer: deny,
    },
  },
}

/** The tests of the structured-IO RFC. */
export const conformance: ProtocolSuites = { suites: { rfc: suite }, program: 'qwen' }
