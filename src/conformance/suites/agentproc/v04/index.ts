import {
  type AgentRun,
  ANY,
  bigText,
  END,
  type JsonRecord,
  objectsOf,
  type SeenLine,
  type Suite,
} from '../../../kit/index.ts'
import { agentRules } from './agent.ts'
import { clientRules, play } from './client.ts'

const ascii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
const turn = (message: string, more: JsonRecord = {}): { write: string } => ({
  write: `${ascii(JSON.stringify({ ...BASE, message, ...more }))}\n`,
})
const BASE = { type: 'turn', session_id: '', session_name: 'default', protocol_version: '0.4' }
const ASK = 'Reply with the word ok.'

/** Refuses an agent's questions: a test must not change the machine it runs on. */
const deny = ({ type, request_id }: JsonRecord): readonly string[] =>
  type === 'permission_request'
    ? [`${JSON.stringify({ type: 'permission_response', request_id, behavior: 'deny' })}\n`]
    : []
const isLast = ({ object }: SeenLine): boolean => object?.['type'] === 'result' || object?.['type'] === 'error'
const sessionOf = (runs: readonly AgentRun[]): unknown =>
  runs.flatMap(objectsOf).findLast(({ session_id }) => typeof session_id === 'string')?.['session_id'] ?? ''

/** The tests of wire 0.4. */
export const suite: Suite = {
  framing: 'lines',
  http: false,
  env: [],
  scenarios: [
    { name: 'turn', steps: [turn(ASK), END] },
    { name: 'resume', steps: (earlier) => [turn('Again.', { session_id: sessionOf(earlier.slice(0, 1)) }), END] },
    {
      name: 'permission',
      steps: [turn('Reply with the word ok. Run nothing.', { permission: true }), { until: isLast }, END],
      answer: deny,
    },
    {
      name: 'more',
      steps: [turn('Reply with the word ok, please.', { from_user: 'u', attachments: [], unknown: { a: 1 } }), END],
    },
    { name: 'unicode', steps: [turn('Reply with this line: “é” 😀 \u2028 \\ "q"\nand this.'), END] },
    { name: 'big', steps: [turn(bigText(200_000)), END] },
    { name: 'malformed', steps: [{ write: '{"type":"turn","message":\n' }, END] },
    { name: 'nothing', steps: [END] },
    {
      name: 'terminate',
      steps: [turn('Count from one to five hundred.'), ANY, { terminate: true }],
    },
  ],
  agent: agentRules,
  client: clientRules,
  play,
  hostile: {
    prefix: 'agentproc-0.4',
    form: 'objects',
    section: '1 Turn (stdin)',
    isLast: (frame) => frame.includes('"type":"result"'),
    // An exit with 0 is a success without a result, too.
    unfinishedExit: 1,
    agents: { 'unknown-messages-and-fields': 'answer' },
    turns: {
      many: false,
      request: (_id, message) => ({ ...BASE, message }),
      endOf: ({ type }) => (type === 'result' || type === 'error' ? '' : undefined),
      silentRefusal: true,
      answer: deny,
    },
  },
}
