import {
  type AgentRun,
  every,
  exits,
  exitsWithZero,
  expectThat,
  fits,
  isCount,
  isObject,
  isText,
  type JsonRecord,
  lineRules,
  none,
  objectIn,
  objectsOf,
  rulesForAgents,
  saidBy,
  show,
  skip,
} from '../../kit/index.ts'
import { SECTIONS } from './sections.ts'

const PROMPTS: Readonly<Record<string, number>> = { prompt: 2, blocks: 1, 'in-flight': 1, unicode: 1, big: 1 }
const TURNS = Object.keys(PROMPTS)
const TYPES: readonly unknown[] = [
  'system',
  'assistant',
  'user',
  'result',
  'stream_event',
  'control_request',
  'control_response',
  'control_cancel_request',
]
const BLOCKS: readonly unknown[] = ['text', 'thinking', 'tool_use', 'tool_result']

const contentOf = (line: JsonRecord): unknown => objectIn(line, 'message')['content']
const isBlocks = (content: unknown): boolean =>
  Array.isArray(content) && content.every((block) => isObject(block) && BLOCKS.includes(block['type']))
const replyTo = (run: AgentRun, id: string): JsonRecord | undefined =>
  saidBy(run, 'control_response')
    .map((line) => objectIn(line, 'response'))
    .find(({ request_id }) => request_id === id)

/** The rules for agents that speak as Qwen Code shipped. */
export const agentRules = rulesForAgents('qwen-code', SECTIONS, {
  ...lineRules('1'),
  '1.type': {
    expects: `a line has a known type: ${TYPES.join(', ')}`,
    judge: (run) => every(objectsOf(run), 'line', ({ type }) => TYPES.includes(type)),
  },
  '1.one-result': {
    expects: 'every user message has exactly one `result`',
    on: TURNS,
    judge: (run) => {
      const { length } = saidBy(run, 'result')
      return expectThat(length === PROMPTS[run.scenario], `${length} results`)
    },
  },
  '1.result-shape': {
    expects: 'a `result` has a subtype and is_error; a success a string `result`, an error an `error` with a message',
    on: TURNS,
    judge: (run) =>
      every(saidBy(run, 'result'), 'result', (line) => {
        const { subtype, is_error, result } = line
        const isWhole = is_error === true ? isText(objectIn(line, 'error')['message']) : typeof result === 'string'
        return isText(subtype) && typeof is_error === 'boolean' && isWhole
      }),
  },
  '1.result-last': {
    expects: 'no assistant or stream_event line follows the last result',
    on: TURNS,
    needs: ['1.one-result'],
    judge: (run) => {
      const all = objectsOf(run)
      const late = all
        .slice(all.findLastIndex(({ type }) => type === 'result') + 1)
        .filter(({ type }) => type === 'assistant' || type === 'stream_event')
      return none(late)
    },
  },
  '1.init-first': {
    expects: 'a `system` line of subtype init comes before the first answer',
    on: TURNS,
    judge: (run) =>
      fits(
        objectsOf(run).find(
          ({ type, subtype }) => (type === 'system' && subtype === 'init') || type === 'assistant' || type === 'result',
        ),
        (first) => first?.['type'] === 'system',
      ),
  },
  '1.init-shape': {
    expects: 'init has session_id, cwd and model (strings) and a list `tools`',
    on: TURNS,
    judge: (run) =>
      every(
        saidBy(run, 'system').filter(({ subtype }) => subtype === 'init'),
        'init',
        ({ session_id, cwd, model, tools }) =>
          [session_id, cwd, model].every((one) => typeof one === 'string') && Array.isArray(tools),
      ),
  },
  '1.assistant-shape': {
    expects: 'an `assistant` line has a message of role assistant with content blocks text, thinking or tool_use',
    on: TURNS,
    judge: (run) =>
      every(
        saidBy(run, 'assistant'),
        'assistant line',
        (line) => objectIn(line, 'message')['role'] === 'assistant' && isBlocks(contentOf(line)),
      ),
  },
  '1.usage': {
    expects: 'usage has whole numbers input_tokens and output_tokens',
    on: TURNS,
    judge: (run) =>
      every(
        saidBy(run, 'result').flatMap(({ usage }) => (isObject(usage) ? [usage] : [])),
        'usage',
        ({ input_tokens, output_tokens }) => isCount(input_tokens) && isCount(output_tokens),
      ),
  },
  '1.session-id': {
    expects: 'all lines of a session have the same session_id',
    on: TURNS,
    judge: (run) => {
      const ids = new Set(objectsOf(run).flatMap(({ session_id }) => (session_id === undefined ? [] : [session_id])))
      return ids.size === 0 ? skip('no session_id was seen') : expectThat(ids.size === 1, show([...ids]))
    },
  },
  '1.stream-events': {
    expects: 'a `stream_event` has an `event` with a type; its deltas lie between message_start and message_stop',
    on: TURNS,
    judge: (run) => {
      let isOpen = false
      return every(saidBy(run, 'stream_event'), 'stream_event', (line) => {
        const { type } = objectIn(line, 'event')
        if (type === 'message_start') isOpen = true
        const holds = isText(type) && (isOpen || !type.startsWith('content_block'))
        if (type === 'message_stop') isOpen = false
        return holds
      })
    },
  },
  '3.reply': {
    expects: 'initialize is answered by a control_response of subtype success with its request_id',
    on: ['prompt', 'unicode'],
    judge: (run) => {
      const reply = replyTo(run, run.scenario === 'unicode' ? 'ü-😀' : 'init-1')
      return expectThat(reply?.['subtype'] === 'success', show(reply ?? objectsOf(run)[0]))
    },
  },
  '3.interrupt': {
    expects: 'interrupt is answered with success, also when nothing runs',
    on: ['idle-interrupt'],
    needs: ['3.reply'],
    judge: (run) => expectThat(replyTo(run, 'int-1')?.['subtype'] === 'success', show(replyTo(run, 'int-1'))),
  },
  '3.request-shape': {
    expects: 'a control_request has a request_id, and a `request` with a subtype',
    judge: (run) =>
      every(
        saidBy(run, 'control_request'),
        'control_request',
        (line) => isText(line['request_id']) && isText(objectIn(line, 'request')['subtype']),
      ),
  },
  '4.malformed-line': {
    expects: 'a line that is no JSON starts no turn',
    on: ['malformed'],
    judge: (run) =>
      fits(
        saidBy(run, 'result').find(({ is_error }) => is_error !== true),
        (success) => success === undefined,
      ),
  },
  '4.exits-at-end-of-input': {
    expects: 'the process finishes its turns and exits with 0 when stdin ends',
    on: [...TURNS, 'idle-interrupt'],
    judge: exitsWithZero,
  },
  '4.sigterm': {
    expects: 'SIGTERM ends the process within its grace',
    on: ['terminate'],
    judge: exits,
  },
})
