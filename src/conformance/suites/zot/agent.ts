import {
  ending,
  every,
  exactly,
  exitsWithZero,
  expectThat,
  fits,
  isCount,
  isObject,
  isText,
  lineRules,
  none,
  objectsOf,
  rulesForAgents,
  saidBy,
  show,
} from '../../kit/index.ts'
import {
  BLOCKS,
  dataOf,
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
import { SECTIONS } from './sections.ts'

/** The rules for agents that speak zot RPC. */
export const agentRules = rulesForAgents('zot', SECTIONS, {
  ...lineRules('5'),
  '5.2.one-response': {
    expects: 'every command with an id has exactly one response, which echoes the id',
    on: Object.keys(SENT),
    judge: (run) =>
      every(idsOf(run), 'command', ([id]) => responses(run).filter((one) => one['id'] === id).length === 1),
  },
  '5.2.response-shape': {
    expects: 'a response has `command` with the type of its command, and a boolean `success`',
    on: Object.keys(SENT),
    needs: ['5.2.one-response'],
    judge: (run) =>
      every(
        idsOf(run).map(([id, command]) => ({ command, response: responseTo(run, id) })),
        'response',
        ({ command, response }) => response?.['command'] === command && typeof response['success'] === 'boolean',
      ),
  },
  '11.hello-version': {
    expects: 'the response to hello has `data.protocol_version` 1',
    on: ['prompt'],
    needs: ['5.2.one-response'],
    judge: (run) => fits(dataOf(run, 'h1')['protocol_version'], (version) => version === 1),
  },
  '5.2.started-first': {
    expects: 'the response to a prompt comes before its events',
    on: ['prompt', 'abort'],
    needs: ['5.2.one-response'],
    judge: (run) =>
      fits(
        objectsOf(run).find(({ type, command }) => NAMELESS.includes(String(type)) || command === 'prompt'),
        (first) => first?.['type'] === 'response',
      ),
  },
  '5.3.one-done': {
    expects: 'a prompt ends with exactly one `done`',
    on: WITH_PROMPTS,
    judge: (run) => exactly(PROMPTS[run.scenario]!, saidBy(run, 'done'), 'done events'),
  },
  '5.3.done-last': {
    expects: 'no event of a prompt follows its `done`',
    on: ['abort', 'unicode', 'big'],
    needs: ['5.3.one-done'],
    judge: (run) => {
      const all = objectsOf(run)
      const late = all
        .slice(all.findIndex(({ type }) => type === 'done') + 1)
        .filter(({ type }) => !OUTSIDE.includes(type))
      return none(late)
    },
  },
  '5.3.event-no-id': {
    expects: 'events carry no command id',
    judge: (run) => every(saidBy(run, ...NAMELESS), 'event', (event) => !('id' in event)),
  },
  '5.3.delta-text': {
    expects: '`text_delta` has a string `delta` that is not empty',
    judge: (run) => every(saidBy(run, 'text_delta'), 'text_delta', ({ delta }) => isText(delta)),
  },
  '5.3.delta-in-turn': {
    expects: 'text_delta comes between turn_start and turn_end',
    on: WITH_PROMPTS,
    judge: (run) => none(outsideTurns(run, 'text_delta')),
  },
  '5.3.turn-end-stop': {
    expects: '`turn_end.stop` is end_turn (or end), tool_use, length, error or aborted',
    on: WITH_PROMPTS,
    judge: (run) => every(saidBy(run, 'turn_end'), 'turn_end', ({ stop }) => STOPS.includes(stop)),
  },
  '5.3.usage-counts': {
    expects: '`usage` has whole numbers input, output, cache_read, cache_write, and an object `cumulative`',
    on: WITH_PROMPTS,
    judge: (run) =>
      every(
        saidBy(run, 'usage'),
        'usage',
        ({ input, output, cache_read, cache_write, cumulative }) =>
          [input, output, cache_read, cache_write].every(isCount) && isObject(cumulative),
      ),
  },
  '5.4.message-content': {
    expects: 'user_message and assistant_message have `content`, a list of blocks of known type',
    on: WITH_PROMPTS,
    judge: (run) =>
      every(
        saidBy(run, 'user_message', 'assistant_message'),
        'message',
        ({ content }) =>
          Array.isArray(content) && content.every((block) => isObject(block) && BLOCKS.includes(block['type'])),
      ),
  },
  '5.2.ping-pong': {
    expects: 'ping is answered with `data.pong` true',
    on: ['commands'],
    needs: ['5.2.one-response'],
    judge: (run) => expectThat(dataOf(run, 'i1')['pong'] === true, show(responseTo(run, 'i1'))),
  },
  '5.2.state': {
    expects: 'get_state has provider, model, cwd (strings), message_count (number) and busy (boolean)',
    on: ['commands'],
    needs: ['5.2.one-response'],
    judge: (run) => {
      const { provider, model, cwd, message_count, busy } = dataOf(run, 's1')
      const holds = [provider, model, cwd].every((one) => typeof one === 'string') && isCount(message_count)
      return expectThat(holds && typeof busy === 'boolean', show(responseTo(run, 's1')))
    },
  },
  '5.2.lists': {
    expects: 'get_messages has the list `data.messages`, get_models the list `data.models`',
    on: ['commands'],
    needs: ['5.2.one-response'],
    judge: (run) => {
      const { messages } = dataOf(run, 'm1')
      const { models } = dataOf(run, 'l1')
      return expectThat(Array.isArray(messages) && Array.isArray(models), show({ messages, models }))
    },
  },
  '5.2.unknown-command': {
    expects: 'an unknown command is answered with success false and an `error`',
    on: ['mistakes'],
    needs: ['5.2.one-response'],
    judge: (run) =>
      fits(responseTo(run, 'u1'), (response) => response?.['success'] === false && isText(response['error'])),
  },
  '5.malformed-line': {
    expects: 'a line that is not JSON is answered with success false, and the process goes on',
    on: ['mistakes'],
    needs: ['5.2.one-response'],
    judge: (run) => {
      const refused = responses(run).filter(({ id, success }) => id !== 'u1' && id !== 'i2' && success === false)
      return exactly(1, refused, 'refusals of the malformed line')
    },
  },
  '5.2.abort': {
    expects: 'abort is answered with success true, also when nothing runs',
    on: ['commands', 'abort'],
    needs: ['5.2.one-response'],
    judge: (run) =>
      fits(responseTo(run, run.scenario === 'abort' ? 'a3' : 'a1'), (response) => response?.['success'] === true),
  },
  '5.unicode-id': {
    expects: 'an id of other characters than ASCII is echoed as it was',
    on: ['unicode'],
    judge: (run) =>
      fits(
        responses(run).map(({ id }) => id),
        (ids) => ids.includes('ü-😀-\u2028'),
      ),
  },
  '5.line-separator': {
    expects: 'a line ends at LF only: U+2028 inside a string is text',
    on: ['raw-line-separator'],
    judge: (run) => expectThat(responseTo(run, 'p6')?.['success'] === true, show(objectsOf(run)[0])),
  },
  '5.big-prompt': {
    expects: 'a prompt of 200 KB is taken',
    on: ['big'],
    needs: ['5.2.one-response'],
    judge: (run) => fits(responseTo(run, 'p5'), (response) => response?.['success'] === true),
  },
  '2.exits-at-end-of-input': {
    expects: 'the process exits by itself, with 0, when stdin closes',
    on: ['prompt', 'commands', 'mistakes', 'end-of-input'],
    judge: exitsWithZero,
  },
  '4.wrong-token': {
    expects: 'a hello with a wrong token is answered with success false, and the process exits',
    on: ['wrong-token'],
    judge: (run) =>
      expectThat(
        responseTo(run, 'h2')?.['success'] === false && run.end === 'exited',
        `${show(responseTo(run, 'h2'))}; ${ending(run)}`,
      ),
  },
  '4.token-first': {
    expects: 'with a token set, a command before hello is refused',
    on: ['no-token'],
    lenient: true,
    judge: (run) => expectThat(responseTo(run, 'i3')?.['success'] !== true, show(responseTo(run, 'i3'))),
  },
})
