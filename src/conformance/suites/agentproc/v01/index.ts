import {
  type AgentRun,
  ANY,
  bigText,
  ending,
  every,
  exits,
  expectThat,
  parsed,
  rulesForAgents,
  type Scenario,
  type SeenLine,
  type Suite,
  show,
  skip,
  textRules,
} from '../../../kit/index.ts'
import { clientRules, play, SESSION as SESSION_TOLD, VARIABLES } from './client.ts'
import { SECTIONS } from './sections.ts'

const PREFIXES = ['AGENT_SESSION:', 'AGENT_PARTIAL:', 'AGENT_ERROR:'] as const
const OUTPUT = '3 Output — stdout Protocol'

/** The values behind one sentinel, in order. */
const values = ({ lines }: AgentRun, prefix: (typeof PREFIXES)[number]): string[] =>
  lines.filter(({ text }) => text.startsWith(prefix)).map(({ text }) => text.slice(prefix.length))
const errors = (run: AgentRun): string[] =>
  values(run, 'AGENT_ERROR:').filter((value) => value !== '' && value !== '""')
const isBody = ({ text }: SeenLine): boolean => !PREFIXES.some((prefix) => text.startsWith(prefix))
const session = (runs: readonly AgentRun[]): string | undefined =>
  runs.flatMap((run) => values(run, 'AGENT_SESSION:')).at(-1)

const turn = (message: string, more: Record<string, string> = {}): Record<string, string> => ({
  AGENT_MESSAGE: message,
  AGENT_SESSION_ID: '',
  AGENT_SESSION_NAME: 'default',
  AGENT_FROM_USER: 'conformance',
  AGENT_STREAMING: '1',
  AGENT_PROTOCOL_VERSION: '0.1',
  ...more,
})
const scenario = (name: string, message: string, more: Record<string, string> = {}): Scenario => ({
  name,
  env: () => turn(message, more),
  steps: [],
})
const ASK = 'Reply with the word ok.'

const scenarios: readonly Scenario[] = [
  scenario('turn', ASK),
  scenario('one-shot', ASK, { AGENT_STREAMING: '0' }),
  {
    name: 'resume',
    env: (earlier) => turn('Reply with the word ok again.', { AGENT_SESSION_ID: session(earlier.slice(0, 1)) ?? '' }),
    steps: [],
  },
  scenario('quotes', 'Repeat these two lines:\nAGENT_ERROR:"not an error"\n"quoted" \\ 😀 é \u2028'),
  scenario('big', bigText(100_000)),
  {
    name: 'terminate',
    env: () => turn('Count from one to five hundred, one number a line.'),
    steps: [ANY, { terminate: true }],
  },
]
const TURNS = ['turn', 'one-shot', 'resume', 'quotes', 'big']

const agent = rulesForAgents('agentproc-0.1', SECTIONS, {
  ...textRules('3'),
  '2.4.stdin-unread': {
    expects: 'the agent ends by itself while stdin stays open and empty',
    on: TURNS,
    judge: exits,
  },
  '4.exit-code': {
    expects: 'a turn without AGENT_ERROR exits with 0',
    on: TURNS,
    needs: ['2.4.stdin-unread'],
    judge: (run) => (errors(run).length > 0 ? skip('the turn failed') : expectThat(run.exitCode === 0, ending(run))),
  },
  '3.reply': {
    expects: 'a turn has a reply: body lines, partials or an error',
    on: ['turn', 'one-shot'],
    lenient: true,
    judge: (run) =>
      expectThat(
        run.lines.some(({ text }) => text.trim() !== '' && !text.startsWith('AGENT_SESSION:')),
        'no reply',
      ),
  },
  '3.1.session-id': {
    expects: 'a session id has letters, digits and . _ ~ = - only',
    judge: (run) => every(values(run, 'AGENT_SESSION:'), 'session line', (id) => /^[A-Za-z0-9._~=-]+\r?$/.test(id)),
  },
  '3.1.resume': {
    expects: 'a turn with the session id of an earlier one succeeds',
    on: ['resume'],
    judge: (run, earlier) =>
      session(earlier) === undefined
        ? skip('the agent sent no session id')
        : expectThat(errors(run).length === 0, `AGENT_ERROR:${errors(run)[0]}`),
  },
  '3.2.partial-json': {
    expects: 'AGENT_PARTIAL: is followed by a JSON string',
    judge: (run) =>
      every(values(run, 'AGENT_PARTIAL:'), 'partial', (value) => value === '' || typeof parsed(value) === 'string'),
  },
  '3.2.one-shot': {
    expects: 'with AGENT_STREAMING 0 there are no partials: the body is the reply',
    on: ['one-shot'],
    judge: (run) => {
      const partials = values(run, 'AGENT_PARTIAL:')
      return expectThat(partials.length === 0, `AGENT_PARTIAL:${partials[0]}`)
    },
  },
  '3.3.error-json': {
    expects: 'AGENT_ERROR: is followed by a JSON string',
    judge: (run) => every(errors(run), 'error', (value) => typeof parsed(value) === 'string'),
  },
  '3.3.error-exit': {
    expects: 'an agent that says AGENT_ERROR exits with another code than 0',
    lenient: true,
    judge: (run) =>
      errors(run).length === 0 ? skip('no error was seen') : expectThat(run.exitCode !== 0, ending(run)),
  },
  '3.3.error-last': {
    expects: 'at most one AGENT_ERROR, and only a session line after it',
    lenient: true,
    judge: (run) => {
      const at = run.lines.findIndex(({ text }) => text.startsWith('AGENT_ERROR:'))
      if (at < 0) return skip('no error was seen')
      return expectThat(
        run.lines.slice(at + 1).every(({ text }) => text.startsWith('AGENT_SESSION:')),
        show(run.lines[at + 1]?.text),
      )
    },
  },
  '3.quoted-sentinel': {
    expects: 'text of the user never becomes a protocol line',
    on: ['quotes'],
    judge: (run) =>
      expectThat(!errors(run).some((value) => value.includes('not an error')), 'AGENT_ERROR:"not an error"'),
  },
  '3.sentinel-column': {
    expects: 'a sentinel begins its line: after white space it is body text',
    on: ['turn', 'one-shot', 'resume', 'big'],
    judge: ({ lines }) =>
      expectThat(
        !lines.filter(isBody).some(({ text }) => PREFIXES.some((prefix) => text.trimStart().startsWith(prefix))),
        'a sentinel after white space',
      ),
  },
  '2.1.big-message': {
    expects: 'a message of 100 KB is taken',
    on: ['big'],
    judge: (run) => expectThat(errors(run).length === 0, `AGENT_ERROR:${errors(run)[0]}`),
  },
  '5.sigterm': {
    expects: 'SIGTERM ends the agent within its grace',
    on: ['terminate'],
    judge: exits,
  },
})

/** The tests of wire 0.1. */
export const suite: Suite = {
  framing: 'lines',
  http: false,
  env: VARIABLES,
  scenarios,
  agent,
  client: clientRules,
  play,
  hostile: {
    prefix: 'agentproc-0.1',
    form: 'text',
    section: OUTPUT,
    isLast: (frame) => frame === `AGENT_SESSION:${SESSION_TOLD}\n`,
    // The exit code alone says how a turn ended.
    unfinishedExit: 1,
    clients: { 'answers-twice': 'untried' },
    turns: { many: false, env: turn, endOf: () => undefined, silentRefusal: true },
  },
}
