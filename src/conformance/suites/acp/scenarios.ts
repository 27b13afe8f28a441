import {
  type AgentRun,
  bigText,
  END,
  FOLDER,
  type JsonRecord,
  objectIn,
  objectsOf,
  RUN_ID,
  recordsIn,
  type Scenario,
  type ScenarioStep,
  SESSION,
  type SeenLine,
  writes,
} from '../../kit/index.ts'

/** A request, a step that waits for its answer, and a notification. */
const asks = (id: string | number, method: string, params: JsonRecord): { readonly write: string } =>
  writes({ jsonrpc: '2.0', id, method, params })
const answered = (id: string | number): ScenarioStep => ({ until: ({ object }) => isAnswer(object, id) })
const tells = (method: string, params: JsonRecord): ScenarioStep => writes({ jsonrpc: '2.0', method, params })

/** True for the answer to the request with this id. */
export function isAnswer(message: JsonRecord | undefined, id: unknown): boolean {
  return message !== undefined && message['id'] === id && !('method' in message)
}

const HELLO = {
  protocolVersion: 1,
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  clientInfo: { name: 'turnpike-conformance', version: '1' },
}
const PLACE = { cwd: FOLDER, mcpServers: [] }
const prompt = (id: string, text: string, sessionId = SESSION): { readonly write: string } =>
  asks(id, 'session/prompt', { sessionId, prompt: [{ type: 'text', text }] })

/** The steps that introduce the client, and that open a session. */
export const HELLOS: readonly ScenarioStep[] = [asks('i1', 'initialize', HELLO), answered('i1')]
export const OPENING: readonly ScenarioStep[] = [...HELLOS, asks('n1', 'session/new', PLACE), answered('n1')]

/** Any sign of work on a prompt, or its end. */
const working = (id: string): ScenarioStep => ({
  until: ({ object }) => isAnswer(object, id) || /chunk$|^tool_call/.test(String(updateOf(object)['sessionUpdate'])),
})

/** The update of a notification; an empty object for any other message. */
export function updateOf(message: JsonRecord | undefined): JsonRecord {
  return message?.['method'] === 'session/update' ? objectIn(objectIn(message, 'params'), 'update') : {}
}

/** The id of the session that the agent has opened in these lines, or in the first run that opened one. */
export function sessionId(lines: readonly SeenLine[], earlier: readonly AgentRun[]): string | undefined {
  const all = [lines, ...earlier.map((run) => run.lines)]
  const ids = all.map((own) => objectsOf({ lines: own }).find((one) => isAnswer(one, 'n1')))
  const id = ids.map((one) => objectIn(one, 'result')['sessionId']).find((one) => typeof one === 'string')
  return typeof id === 'string' ? id : undefined
}

/** Answers the agent's requests: permissions are denied, and nothing else is offered. */
export function answer(asked: JsonRecord): readonly string[] {
  const { id, method, params } = asked
  if (typeof method !== 'string' || id === undefined) return []
  if (method !== 'session/request_permission') {
    return [writes({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }).write]
  }
  const options = recordsIn(params as JsonRecord, 'options')
  const no = options.find(({ kind }) => String(kind).startsWith('reject'))
  const outcome = no ? { outcome: 'selected', optionId: no['optionId'] } : { outcome: 'cancelled' }
  return [writes({ jsonrpc: '2.0', id, result: { outcome } }).write]
}

const scenario = (name: string, ...steps: readonly ScenarioStep[]): Scenario => ({
  name,
  steps: [...steps, END],
  answer,
})

/** The conversations with an agent. */
export const scenarios: readonly Scenario[] = [
  scenario(
    'turn',
    ...OPENING,
    prompt('p1', 'Reply with the word ok.'),
    answered('p1'),
    prompt('p2', 'Reply with the word ok again.'),
    answered('p2'),
  ),
  scenario('other-version', asks('i1', 'initialize', { ...HELLO, protocolVersion: 999 }), answered('i1')),
  scenario(
    'mistakes',
    ...HELLOS,
    asks('u1', '_conformance/unknown', {}),
    answered('u1'),
    tells('_conformance/unknown', {}),
    { write: '{"jsonrpc":"2.0","id":\n' },
    asks('x1', 'session/new', {}),
    answered('x1'),
    prompt('x2', 'Reply with the word ok.', `no-such-session-${RUN_ID}`),
    answered('x2'),
    tells('session/cancel', { sessionId: `no-such-session-${RUN_ID}` }),
    asks('u2', '_conformance/unknown', {}),
    answered('u2'),
  ),
  scenario('ids', ...HELLOS, ...[0, 42, 'ü-😀'].flatMap((id) => [asks(id, '_conformance/unknown', {}), answered(id)])),
  scenario('list', ...HELLOS, asks('l1', 'session/list', {}), answered('l1')),
  scenario('load', ...HELLOS, asks('l2', 'session/load', { ...PLACE, sessionId: SESSION }), answered('l2')),
  scenario(
    'cancel',
    ...OPENING,
    prompt('p3', 'Count from one to five hundred, one number a line.'),
    working('p3'),
    tells('session/cancel', { sessionId: SESSION }),
    answered('p3'),
  ),
  scenario('tool', ...OPENING, prompt('p4', 'Run the command `echo ok` in a shell.'), answered('p4')),
  scenario('big', ...OPENING, prompt('p5', bigText(200_000)), answered('p5')),
  scenario('line-separator', ...OPENING, prompt('p6', 'Reply with the word ok.\u2028Nothing else.'), answered('p6')),
]

/** The ids that each scenario sends. */
export const SENT: Readonly<Record<string, readonly (string | number)[]>> = {
  turn: ['i1', 'n1', 'p1', 'p2'],
  'other-version': ['i1'],
  mistakes: ['i1', 'u1', 'x1', 'x2', 'u2'],
  ids: ['i1', 0, 42, 'ü-😀'],
  list: ['i1', 'l1'],
  load: ['i1', 'l2'],
  cancel: ['i1', 'n1', 'p3'],
  tool: ['i1', 'n1', 'p4'],
  big: ['i1', 'n1', 'p5'],
  'line-separator': ['i1', 'n1', 'p6'],
}
