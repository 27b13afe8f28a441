import {
  type AgentRule,
  ending,
  every,
  exactly,
  expectThat,
  isCount,
  isObject,
  isText,
  lineRules,
  objectsOf,
  show,
} from '../../kit/index.ts'
import {
  BLOCKS,
  dataOf,
  events,
  idsOf,
  NAMELESS,
  OUTSIDE,
  outsideTurns,
  PROMPTS,
  responses,
  responseTo,
  SENT,
  STOPS,
  WITH_PROMPTS,
} from './read.ts'

const PROCESS = '2 Process model'
const AUTH = '4 Auth'
const WIRE = '5 Wire format'
const COMMANDS = '5.2 Commands'
const EVENTS = '5.3 Events'
const MESSAGES = '5.4 Message shape'

const ANSWERED = 'zot.5.2.one-response'
const DONE = 'zot.5.3.one-done'

/** The rules for agents that speak zot RPC. */
export const agentRules: readonly AgentRule[] = [
  ...lineRules('zot', WIRE),
  {
    id: ANSWERED,
    section: COMMANDS,
    expects: 'every command with an id has exactly one response, which echoes the id',
    on: Object.keys(SENT),
    judge: (run) =>
      every(idsOf(run), 'command', ([id]) => responses(run).filter((one) => one['id'] === id).length === 1),
  },
  {
    id: 'zot.5.2.response-shape',
    section: COMMANDS,
    expects: 'a response has `command` with the type of its command, and a boolean `success`',
    on: Object.keys(SENT),
    needs: [ANSWERED],
    judge: (run) =>
      every(
        idsOf(run).map(([id, command]) => ({ command, response: responseTo(run, id) })),
        'response',
        ({ command, response }) => response?.['command'] === command && typeof response['success'] === 'boolean',
      ),
  },
  {
    id: 'zot.11.hello-version',
    section: '11 Versioning',
    expects: 'the response to hello has `data.protocol_version` 1',
    on: ['prompt'],
    needs: [ANSWERED],
    judge: (run) => {
      const version = dataOf(run, 'h1')['protocol_version']
      return expectThat(version === 1, show(version))
    },
  },
  {
    id: 'zot.5.2.started-first',
    section: COMMANDS,
    expects: 'the response to a prompt comes before its events',
    on: ['prompt', 'abort'],
    needs: [ANSWERED],
    judge: (run) => {
      const first = objectsOf(run).find(({ type, command }) => NAMELESS.includes(String(type)) || command === 'prompt')
      return expectThat(first?.['type'] === 'response', show(first))
    },
  },
  {
    id: DONE,
    section: EVENTS,
    expects: 'a prompt ends with exactly one `done`',
    on: WITH_PROMPTS,
    judge: (run) => exactly(PROMPTS[run.scenario]!, events(run, 'done'), 'done events'),
  },
  {
    id: 'zot.5.3.done-last',
    section: EVENTS,
    expects: 'no event of a prompt follows its `done`',
    on: ['abort', 'unicode', 'big'],
    needs: [DONE],
    judge: (run) => {
      const all = objectsOf(run)
      const late = all
        .slice(all.findIndex(({ type }) => type === 'done') + 1)
        .filter(({ type }) => !OUTSIDE.includes(type))
      return expectThat(late.length === 0, show(late[0]))
    },
  },
  {
    id: 'zot.5.3.event-no-id',
    section: EVENTS,
    expects: 'events carry no command id',
    on: 'all',
    judge: (run) => every(events(run, ...NAMELESS), 'event', (event) => !('id' in event)),
  },
  {
    id: 'zot.5.3.delta-text',
    section: EVENTS,
    expects: '`text_delta` has a string `delta` that is not empty',
    on: 'all',
    judge: (run) => every(events(run, 'text_delta'), 'text_delta', ({ delta }) => isText(delta)),
  },
  {
    id: 'zot.5.3.delta-in-turn',
    section: EVENTS,
    expects: 'text_delta comes between turn_start and turn_end',
    on: WITH_PROMPTS,
    judge: (run) => {
      const outside = outsideTurns(run, 'text_delta')
      return expectThat(outside.length === 0, show(outside[0]))
    },
  },
  {
    id: 'zot.5.3.turn-end-stop',
    section: EVENTS,
    expects: '`turn_end.stop` is end_turn (or end), tool_use, length, error or aborted',
    on: WITH_PROMPTS,
    judge: (run) => every(events(run, 'turn_end'), 'turn_end', ({ stop }) => STOPS.includes(stop)),
  },
  {
    id: 'zot.5.3.usage-counts',
    section: EVENTS,
    expects: '`usage` has whole numbers input, output, cache_read, cache_write, and an object `cumulative`',
    on: WITH_PROMPTS,
    judge: (run) =>
      every(
        events(run, 'usage'),
        'usage',
        ({ input, output, cache_read, cache_write, cumulative }) =>
          [input, output, cache_read, cache_write].every(isCount) && isObject(cumulative),
      ),
  },
  {
    id: 'zot.5.4.message-content',
    section: MESSAGES,
    expects: 'user_message and assistant_message have `content`, a list of blocks of known type',
    on: WITH_PROMPTS,
    judge: (run) =>
      every(
        events(run, 'user_message', 'assistant_message'),
        'message',
        ({ content }) =>
          Array.isArray(content) && content.every((block) => isObject(block) && BLOCKS.includes(block['type'])),
      ),
  },
  {
    id: 'zot.5.2.ping-pong',
    section: COMMANDS,
    expects: 'ping is answered with `data.pong` true',
    on: ['commands'],
    needs: [ANSWERED],
    judge: (run) => expectThat(dataOf(run, 'i1')['pong'] === true, show(responseTo(run, 'i1'))),
  },
  {
    id: 'zot.5.2.state',
    section: COMMANDS,
    expects: 'get_state tells provider, model, cwd (strings), message_count (number) and busy (boolean)',
    on: ['commands'],
    needs: [ANSWERED],
    judge: (run) => {
      const { provider, model, cwd, message_count, busy } = dataOf(run, 's1')
      const holds = [provider, model, cwd].every((one) => typeof one === 'string') && isCount(message_count)
      return expectThat(holds && typeof busy === 'boolean', show(responseTo(run, 's1')))
    },
  },
  {
    id: 'zot.5.2.lists',
    section: COMMANDS,
    expects: 'get_messages has the list `data.messages`, get_models the list `data.models`',
    on: ['commands'],
    needs: [ANSWERED],
    judge: (run) => {
      const { messages } = dataOf(run, 'm1')
      const { models } = dataOf(run, 'l1')
      return expectThat(Array.isArray(messages) && Array.isArray(models), show({ messages, models }))
    },
  },
  {
    id: 'zot.5.2.unknown-command',
    section: COMMANDS,
    expects: 'an unknown command is answered with success false and an `error`',
    on: ['mistakes'],
    needs: [ANSWERED],
    judge: (run) => {
      const response = responseTo(run, 'u1')
      return expectThat(response?.['success'] === false && isText(response['error']), show(response))
    },
  },
  {
    id: 'zot.5.malformed-line',
    section: WIRE,
    expects: 'a line that is no JSON is answered with success false, and the process goes on',
    on: ['mistakes'],
    needs: [ANSWERED],
    judge: (run) => {
      const refused = responses(run).filter(({ id, success }) => id !== 'u1' && id !== 'i2' && success === false)
      return exactly(1, refused, 'refusals of the malformed line')
    },
  },
  {
    id: 'zot.5.2.abort',
    section: COMMANDS,
    expects: 'abort is answered with success true, also when nothing runs',
    on: ['commands', 'abort'],
    needs: [ANSWERED],
    judge: (run) => {
      const response = responseTo(run, run.scenario === 'abort' ? 'a3' : 'a1')
      return expectThat(response?.['success'] === true, show(response))
    },
  },
  {
    id: 'zot.5.unicode-id',
    section: WIRE,
    expects: 'an id of other characters than ASCII is echoed as it was',
    on: ['unicode'],
    judge: (run) => {
      const ids = responses(run).map(({ id }) => id)
      return expectThat(ids.includes('ü-😀-\u2028'), show(ids))
    },
  },
  {
    id: 'zot.5.line-separator',
    section: WIRE,
    expects: 'a line ends at LF only: U+2028 inside a string is text',
    on: ['raw-line-separator'],
    judge: (run) => expectThat(responseTo(run, 'p6')?.['success'] === true, show(objectsOf(run)[0])),
  },
  {
    id: 'zot.5.big-prompt',
    section: WIRE,
    expects: 'a prompt of 200 KB is taken',
    on: ['big'],
    needs: [ANSWERED],
    judge: (run) => {
      const response = responseTo(run, 'p5')
      return expectThat(response?.['success'] === true, show(response))
    },
  },
  {
    id: 'zot.2.exits-at-end-of-input',
    section: PROCESS,
    expects: 'the process exits by itself, with 0, when stdin closes',
    on: ['prompt', 'commands', 'mistakes', 'end-of-input'],
    judge: (run) => expectThat(run.end === 'exited' && run.exitCode === 0, ending(run)),
  },
  {
    id: 'zot.4.wrong-token',
    section: AUTH,
    expects: 'a hello with a wrong token is answered with success false, and the process exits',
    on: ['wrong-token'],
    judge: (run) =>
      expectThat(
        responseTo(run, 'h2')?.['success'] === false && run.end === 'exited',
        `${show(responseTo(run, 'h2'))}; ${ending(run)}`,
      ),
  },
  {
    id: 'zot.4.token-first',
    section: AUTH,
    expects: 'with a token set, a command before hello is refused',
    on: ['no-token'],
    lenient: true,
    judge: (run) => expectThat(responseTo(run, 'i3')?.['success'] !== true, show(responseTo(run, 'i3'))),
  },
]
