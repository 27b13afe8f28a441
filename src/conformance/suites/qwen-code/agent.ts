import {
  type AgentRule,
  type AgentRun,
  ending,
  every,
  expectThat,
  isCount,
  isObject,
  isText,
  type JsonRecord,
  lineRules,
  objectIn,
  objectsOf,
  show,
  skip,
} from '../../kit/index.ts'

const LINES = '1 Output lines'
const CONTROL = '3 Control channel'
const LIFETIME = '4 Lifetime'

const PROMPTS: Readonly<Record<string, number>> = { prompt: 2, blocks: 1, 'in-flight': 1, unicode: 1, big: 1 }
const TURNS = Object.keys(PROMPTS)
const RESULTS = 'qwen-code.1.one-result'
const REPLIED = 'qwen-code.3.reply'
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

const of = (run: AgentRun, type: string): JsonRecord[] => objectsOf(run).filter((line) => line['type'] === type)
const contentOf = (line: JsonRecord): unknown => objectIn(line, 'message')['content']
const isBlocks = (content: unknown): boolean =>
  Array.isArray(content) && content.every((block) => isObject(block) && BLOCKS.includes(block['type']))
const replyTo = (run: AgentRun, id: string): JsonRecord | undefined =>
  of(run, 'control_response')
    .map((line) => objectIn(line, 'response'))
    .find(({ request_id }) => request_id === id)

/** The rules for agents that speak as Qwen Code shipped. */
export const agentRules: readonly AgentRule[] = [
  ...lineRules('qwen-code', LINES),
  {
    id: 'qwen-code.1.type',
    section: LINES,
    expects: `a line has a known type: ${TYPES.join(', ')}`,
    on: 'all',
    judge: (run) => every(objectsOf(run), 'line', ({ type }) => TYPES.includes(type)),
  },
  {
    id: RESULTS,
    section: LINES,
    expects: 'every user message has exactly one `result`',
    on: TURNS,
    judge: (run) => {
      const { length } = of(run, 'result')
      return expectThat(length === PROMPTS[run.scenario], `${length} results`)
    },
  },
  {
    id: 'qwen-code.1.result-shape',
    section: LINES,
    expects: 'a `result` has a subtype and is_error; a success a string `result`, an error an `error` with a message',
    on: TURNS,
    judge: (run) =>
      every(of(run, 'result'), 'result', (line) => {
        const { subtype, is_error, result } = line
        const isWhole = is_error === true ? isText(objectIn(line, 'error')['message']) : typeof result === 'string'
        return isText(subtype) && typeof is_error === 'boolean' && isWhole
      }),
  },
  {
    id: 'qwen-code.1.result-last',
    section: LINES,
    expects: 'no assistant or stream_event line follows the last result',
    on: TURNS,
    needs: [RESULTS],
    judge: (run) => {
      const all = objectsOf(run)
      const late = all
        .slice(all.findLastIndex(({ type }) => type === 'result') + 1)
        .filter(({ type }) => type === 'assistant' || type === 'stream_event')
      return expectThat(late.length === 0, show(late[0]))
    },
  },
  {
    id: 'qwen-code.1.init-first',
    section: LINES,
    expects: 'a `system` line of subtype init comes before the first answer',
    on: TURNS,
    judge: (run) => {
      const first = objectsOf(run).find(
        ({ type, subtype }) => (type === 'system' && subtype === 'init') || type === 'assistant' || type === 'result',
      )
      return expectThat(first?.['type'] === 'system', show(first))
    },
  },
  {
    id: 'qwen-code.1.init-shape',
    section: LINES,
    expects: 'init has session_id, cwd and model (strings) and a list `tools`',
    on: TURNS,
    judge: (run) =>
      every(
        of(run, 'system').filter(({ subtype }) => subtype === 'init'),
        'init',
        ({ session_id, cwd, model, tools }) =>
          [session_id, cwd, model].every((one) => typeof one === 'string') && Array.isArray(tools),
      ),
  },
  {
    id: 'qwen-code.1.assistant-shape',
    section: LINES,
    expects: 'an `assistant` line has a message of role assistant with content blocks text, thinking or tool_use',
    on: TURNS,
    judge: (run) =>
      every(
        of(run, 'assistant'),
        'assistant line',
        (line) => objectIn(line, 'message')['role'] === 'assistant' && isBlocks(contentOf(line)),
      ),
  },
  {
    id: 'qwen-code.1.usage',
    section: LINES,
    expects: 'usage has whole numbers input_tokens and output_tokens',
    on: TURNS,
    judge: (run) =>
      every(
        of(run, 'result').flatMap(({ usage }) => (isObject(usage) ? [usage] : [])),
        'usage',
        ({ input_tokens, output_tokens }) => isCount(input_tokens) && isCount(output_tokens),
      ),
  },
  {
    id: 'qwen-code.1.session-id',
    section: LINES,
    expects: 'all lines of a session have the same session_id',
    on: TURNS,
    judge: (run) => {
      const ids = new Set(objectsOf(run).flatMap(({ session_id }) => (session_id === undefined ? [] : [session_id])))
      return ids.size === 0 ? skip('no session_id was seen') : expectThat(ids.size === 1, show([...ids]))
    },
  },
  {
    id: 'qwen-code.1.stream-events',
    section: LINES,
    expects: 'a `stream_event` has an `event` with a type; its deltas lie between message_start and message_stop',
    on: TURNS,
    judge: (run) => {
      let isOpen = false
      return every(of(run, 'stream_event'), 'stream_event', (line) => {
        const { type } = objectIn(line, 'event')
        if (type === 'message_start') isOpen = true
        const holds = isText(type) && (isOpen || !type.startsWith('content_block'))
        if (type === 'message_stop') isOpen = false
        return holds
      })
    },
  },
  {
    id: REPLIED,
    section: CONTROL,
    expects: 'initialize is answered by a control_response of subtype success with its request_id',
    on: ['prompt', 'unicode'],
    judge: (run) => {
      const reply = replyTo(run, run.scenario === 'unicode' ? 'ü-😀' : 'init-1')
      return expectThat(reply?.['subtype'] === 'success', show(reply ?? objectsOf(run)[0]))
    },
  },
  {
    id: 'qwen-code.3.interrupt',
    section: CONTROL,
    expects: 'interrupt is answered with success, also when nothing runs',
    on: ['idle-interrupt'],
    needs: [REPLIED],
    judge: (run) => expectThat(replyTo(run, 'int-1')?.['subtype'] === 'success', show(replyTo(run, 'int-1'))),
  },
  {
    id: 'qwen-code.3.request-shape',
    section: CONTROL,
    expects: 'a control_request has a request_id, and a `request` with a subtype',
    on: 'all',
    judge: (run) =>
      every(
        of(run, 'control_request'),
        'control_request',
        (line) => isText(line['request_id']) && isText(objectIn(line, 'request')['subtype']),
      ),
  },
  {
    id: 'qwen-code.4.malformed-line',
    section: LIFETIME,
    expects: 'a line that is no JSON starts no turn',
    on: ['malformed'],
    judge: (run) => {
      const success = of(run, 'result').find(({ is_error }) => is_error !== true)
      return expectThat(success === undefined, show(success))
    },
  },
  {
    id: 'qwen-code.4.exits-at-end-of-input',
    section: LIFETIME,
    expects: 'the process finishes its turns and exits with 0 when stdin ends',
    on: [...TURNS, 'idle-interrupt'],
    judge: (run) => expectThat(run.end === 'exited' && run.exitCode === 0, ending(run)),
  },
  {
    id: 'qwen-code.4.sigterm',
    section: LIFETIME,
    expects: 'SIGTERM ends the process within its grace',
    on: ['terminate'],
    judge: (run) => expectThat(run.end === 'exited', ending(run)),
  },
]
