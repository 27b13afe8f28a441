import { fault, type TurnEvent, type TurnStart } from '../../src/model/index.ts'

const TEXT = 'The answer is 42.'
const UNICODE = 'Zażółć gęślą jaźń 🦊 \u2028 "quotes" \\ \t end\nline'

/** An event without its turn. */
export type Told = TurnEvent extends infer E ? (E extends { turn: string } ? Omit<E, 'turn'> : never) : never

const said = (...texts: string[]): Told[] => [
  { type: 'message-start', message: 'm1', role: 'assistant' } as Told,
  ...texts.map((text) => ({ type: 'text-delta', message: 'm1', text }) as Told),
  { type: 'message-end', message: 'm1' } as Told,
]
const done = { type: 'turn-end', outcome: 'completed', stop: 'end' } as Told
const APPROVAL = {
  type: 'ask',
  ask: 'a1',
  question: {
    kind: 'approval',
    tool: 't1',
    name: 'bash',
    args: '{"command":"ls"}',
    options: [
      { id: 'yes', kind: 'allow', scope: 'once' },
      { id: 'no', kind: 'deny', scope: 'once' },
    ],
  },
} as Told

/** One turn as an agent tells it, and what the client has to be told. */
export interface Case {
  input?: TurnStart['input']
  told: readonly Told[]
  text: string
  outcome?: 'failed' | 'cancelled'
}

/** What is told in every pair. */
export const CASES: Readonly<Record<string, Case>> = {
  plain: {
    told: [
      { type: 'message-start', message: 'm1', role: 'assistant' } as Told,
      { type: 'message-end', message: 'm1', parts: [{ type: 'text', text: TEXT }] } as Told,
      done,
    ],
    text: TEXT,
  },
  streamed: { told: [...said('The ans', 'wer is', ' 42.'), done], text: TEXT },
  unicode: { told: [...said(...[...UNICODE].map((one) => one)), done], text: UNICODE },
  tools: {
    told: [
      { type: 'tool-call', tool: 't1', name: 'read', args: '{"n":1.50,"__proto__":1}', executor: 'agent' } as Told,
      { type: 'tool-call', tool: 't2', name: 'bash', args: '{"command":"ls"}', executor: 'agent' } as Told,
      { type: 'tool-end', tool: 't2', status: 'ok', parts: [{ type: 'text', text: 'two' }] } as Told,
      { type: 'tool-end', tool: 't1', status: 'error', parts: [{ type: 'text', text: 'one' }] } as Told,
      ...said(TEXT),
      done,
    ],
    text: TEXT,
  },
  reasoning: {
    told: [
      { type: 'message-start', message: 'm1', role: 'assistant' } as Told,
      { type: 'reasoning-delta', message: 'm1', text: 'Let me see.' } as Told,
      { type: 'text-delta', message: 'm1', text: TEXT } as Told,
      { type: 'message-end', message: 'm1' } as Told,
      done,
    ],
    text: TEXT,
  },
  images: {
    input: [
      { type: 'text', text: 'What is this?' },
      { type: 'image', mime: 'image/png', base64: 'iVBORw0KGgo=' },
    ],
    told: [...said(TEXT), done],
    text: TEXT,
  },
  usage: {
    told: [
      ...said(TEXT),
      {
        type: 'usage',
        scope: 'turn',
        usage: { input: 11, output: 7, reasoning: 2, cacheRead: 3, cacheWrite: 4, total: 18, costUsd: 0.5 },
      } as Told,
      done,
    ],
    text: TEXT,
  },
  approval: { told: [APPROVAL, ...said(TEXT), done], text: TEXT },
  error: {
    told: [
      {
        type: 'turn-end',
        outcome: 'failed',
        stop: 'error',
        fault: fault('provider-down', 'The model is down.'),
      } as Told,
    ],
    text: '',
    outcome: 'failed',
  },
  cancel: {
    told: [
      {
        type: 'turn-end',
        outcome: 'cancelled',
        stop: 'aborted',
        fault: fault('cancelled', 'The turn was cancelled.'),
      } as Told,
    ],
    text: '',
    outcome: 'cancelled',
  },
}
