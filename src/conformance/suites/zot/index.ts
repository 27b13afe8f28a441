import {
  bigText,
  END,
  type HostileFacts,
  type ProtocolSuites,
  type SeenLine,
  type Suite,
  untilType,
  writes,
} from '../../kit/index.ts'
import { agentRules } from './agent.ts'
import { clientRules, play } from './client.ts'

const prompt = (id: string, message: string): { write: string } => writes({ id, type: 'prompt', message })
const untilAnswer = (id: string): { until: (line: SeenLine) => boolean } => ({
  until: ({ object }) => object?.['type'] === 'response' && object['id'] === id,
})

/** The facts of zot RPC that hostile tests need (5 Wire format). */
const hostile: HostileFacts = {
  prefix: 'zot',
  form: 'objects',
  section: '5 Wire format',
  isLast: (frame) => frame.includes('"type":"done"'),
  agents: { 'garbage-line': 'answer', 'lines-that-are-no-objects': 'answer' },
  turns: {
    many: true,
    request: (id, message) => ({ id, type: 'prompt', message }),
    ids: ['id'],
    cancel: (id) => ({ id, type: 'abort' }),
    unknown: { id: 'u1', type: 'no_such_command' },
    endOf: ({ type, command, success }) =>
      type === 'done' || (type === 'response' && command === 'prompt' && success === false) ? '' : undefined,
  },
}

const suite: Suite = {
  framing: 'lines',
  http: false,
  env: ['ZOTCORE_RPC_TOKEN'],
  scenarios: [
    {
      name: 'prompt',
      steps: [
        writes({ id: 'h1', type: 'hello' }),
        untilAnswer('h1'),
        prompt('p1', 'Reply with the word ok.'),
        untilType('done'),
        prompt('p2', 'Reply with the word ok again.'),
        untilType('done'),
        END,
      ],
    },
    {
      name: 'commands',
      steps: [
        writes({ id: 'i1', type: 'ping' }),
        writes({ id: 's1', type: 'get_state' }),
        writes({ id: 'm1', type: 'get_messages' }),
        writes({ id: 'l1', type: 'get_models' }),
        writes({ id: 'c1', type: 'clear' }),
        writes({ id: 'a1', type: 'abort' }),
        untilAnswer('a1'),
        END,
      ],
    },
    {
      name: 'mistakes',
      steps: [
        writes({ id: 'u1', type: 'no_such_command' }),
        untilAnswer('u1'),
        { write: '{"id":"x1","type":\n' },
        writes({ id: 'i2', type: 'ping' }),
        untilAnswer('i2'),
        END,
      ],
    },
    {
      name: 'abort',
      steps: [
        prompt('p3', 'Count from one to five hundred, one number a line.'),
        untilAnswer('p3'),
        writes({ id: 'a3', type: 'abort' }),
        untilType('done'),
        END,
      ],
    },
    { name: 'end-of-input', steps: [prompt('p4', 'Reply with the word ok.'), END] },
    {
      name: 'unicode',
      steps: [prompt('ü-😀-\u2028', 'Reply with this line: \u2028 “é” 😀 \\u0000'), untilType('done'), END].map(
        (step) => ('write' in step ? { write: step.write.replaceAll('\u2028', '\\u2028') } : step),
      ),
    },
    {
      name: 'raw-line-separator',
      steps: [prompt('p6', 'Reply with the word ok.\u2028Nothing else.'), untilType('response'), END],
    },
    { name: 'big', steps: [prompt('p5', bigText(200_000)), untilType('done'), END] },
    {
      name: 'wrong-token',
      env: () => ({ ZOTCORE_RPC_TOKEN: 'the-token' }),
      steps: [writes({ id: 'h2', type: 'hello', token: 'another' }), untilAnswer('h2')],
    },
    {
      name: 'no-token',
      env: () => ({ ZOTCORE_RPC_TOKEN: 'the-token' }),
      steps: [writes({ id: 'i3', type: 'ping' }), untilAnswer('i3'), END],
    },
  ],
  agent: agentRules,
  client: clientRules,
  play,
  hostile,
}

/** The tests of zot RPC, protocol version 1. */
export const conformance: ProtocolSuites = { suites: { rpc: suite }, program: 'zot' }
