import {
  allWords,
  type ClientRule,
  type ClientRun,
  every,
  expectThat,
  isLeaving,
  isObject,
  isText,
  type JsonRecord,
  objectIn,
  objectsOf,
  type Player,
  type Reaction,
  reaps,
  skip,
  waits,
  wordsOf,
} from '../../kit/index.ts'

const OBJECTS = 'qwen-code.client.2.objects'
const INPUT = '2 Input lines'
const CONTROL = '3 Control channel'
const TYPES: readonly unknown[] = ['user', 'control_request', 'control_response', 'control_cancel_request']
const words = (run: ClientRun): JsonRecord[] => objectsOf({ lines: allWords(run) })
const of = (run: ClientRun, type: string): JsonRecord[] => words(run).filter((line) => line['type'] === type)
const ASKED = 'ask-1'
const isResult = (text: string): boolean => text.includes('"type":"result"')
const BEHAVIOR = /^(?:allow|deny)$/i

/** The rules for clients that drive the CLI as it shipped. */
export const clientRules: readonly ClientRule[] = [
  {
    id: OBJECTS,
    section: INPUT,
    expects: 'every line on stdin is a JSON object, ended by LF',
    judge: (run) => every(allWords(run), 'line', ({ object, ended }) => object !== undefined && ended),
  },
  {
    id: 'qwen-code.client.2.formats',
    section: INPUT,
    expects: '--input-format stream-json comes with --output-format stream-json',
    judge: ({ visits }) =>
      every(visits, 'start', ({ argv }) => {
        const text = argv.join(' ')
        return /--input-format[ =]stream-json\b/.test(text) && /(?:--output-format|-o)[ =]stream-json\b/.test(text)
      }),
  },
  {
    id: 'qwen-code.client.2.type',
    section: INPUT,
    expects: `a line has a known type: ${TYPES.join(', ')}`,
    needs: [OBJECTS],
    judge: (run) => every(words(run), 'line', ({ type }) => TYPES.includes(type)),
  },
  {
    id: 'qwen-code.client.2.user-message',
    section: INPUT,
    expects: 'a user line has a message of role user whose content is a text or a list of blocks',
    needs: [OBJECTS],
    judge: (run) =>
      every(of(run, 'user'), 'user line', (line) => {
        const { role, content } = objectIn(line, 'message')
        return role === 'user' && (isText(content) || Array.isArray(content))
      }),
  },
  {
    id: 'qwen-code.client.3.initialize-first',
    section: CONTROL,
    expects: 'the first line is `initialize`: without it the program asks for no approval and hangs instead',
    needs: [OBJECTS],
    lenient: true,
    judge: ({ visits }) =>
      every(visits, 'start', (visit) => {
        const [first] = objectsOf({ lines: wordsOf(visit) })
        return objectIn(first, 'request')['subtype'] === 'initialize'
      }),
  },
  {
    id: 'qwen-code.client.3.request',
    section: CONTROL,
    expects: 'a control_request has a request_id of its own, and a `request` with a subtype',
    needs: [OBJECTS],
    judge: (run) => {
      const ids = of(run, 'control_request').map(({ request_id }) => request_id)
      return new Set(ids).size === ids.length
        ? every(
            of(run, 'control_request'),
            'control_request',
            (line) => isText(line['request_id']) && isText(objectIn(line, 'request')['subtype']),
          )
        : { broken: JSON.stringify(ids) }
    },
  },
  {
    id: 'qwen-code.client.3.response',
    section: CONTROL,
    expects: 'the question can_use_tool is answered with its request_id and behavior allow or deny',
    judge: (run) => {
      const isAsked = of(run, 'control_request').length > 0 && of(run, 'user').length > 0
      if (!isAsked) return skip('nothing was asked: there was no initialize, or no user message')
      const answers = of(run, 'control_response').map((line) => objectIn(line, 'response'))
      const isGood = (one: JsonRecord): boolean =>
        one['request_id'] === ASKED &&
        (one['subtype'] === 'error' || BEHAVIOR.test(String(objectIn(one, 'response')['behavior'])))
      return expectThat(answers.some(isGood), JSON.stringify(answers))
    },
  },
  {
    id: 'qwen-code.client.4.waits',
    section: '4 Lifetime',
    expects: 'the client stays until the `result` of its message',
    needs: ['qwen-code.client.3.response'],
    judge: (run) => waits(run, isResult, isLeaving),
  },
  {
    id: 'qwen-code.client.4.reaps',
    section: '4 Lifetime',
    expects: 'the process has ended before the client ends',
    needs: ['qwen-code.client.3.response', 'qwen-code.client.4.waits'],
    judge: (run) => reaps(run) ?? expectThat(run.end === 'exited', 'the client did not end by itself'),
  },
]

const SESSION = '11111111-2222-4333-8444-555555555555'
const say = (line: JsonRecord): Reaction => ({ write: `${JSON.stringify({ ...line, session_id: SESSION })}\n` })
const QUESTION = say({
  type: 'control_request',
  request_id: ASKED,
  request: { subtype: 'can_use_tool', tool_name: 'run_shell_command', tool_use_id: 't1', input: { command: 'true' } },
})
const USAGE = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
const INIT = {
  subtype: 'init',
  uuid: SESSION,
  cwd: '/',
  tools: [],
  model: 'conformance-1',
  qwen_code_version: '0.24.4',
}
const SAID = { role: 'assistant', model: 'conformance-1', content: [{ type: 'text', text: 'All well.' }], usage: USAGE }
const ANSWER: readonly Reaction[] = [
  { pause: 200 },
  say({ type: 'assistant', uuid: 'm1', parent_tool_use_id: null, message: { id: 'm1', type: 'message', ...SAID } }),
  say({
    type: 'result',
    subtype: 'success',
    uuid: 'r1',
    is_error: false,
    duration_ms: 1,
    duration_api_ms: 1,
    num_turns: 1,
    result: 'All well.',
    usage: USAGE,
    permission_denials: [],
  }),
]

/** Plays the CLI: after `initialize` it asks before the first answer, as long as nobody has answered. */
export function play(): Player {
  let isControlled = false
  let isAnswered = false
  return {
    line: ({ object = {} }) => {
      const { type, request_id, request } = object
      if (type === 'control_request') {
        const { subtype } = isObject(request) ? request : {}
        isControlled ||= subtype === 'initialize'
        return [say({ type: 'control_response', response: { subtype: 'success', request_id, response: { subtype } } })]
      }
      if (type === 'control_response') {
        isAnswered = true
        return ANSWER
      }
      if (type !== 'user') return []
      return [say({ type: 'system', ...INIT }), ...(isControlled && !isAnswered ? [QUESTION] : ANSWER)]
    },
  }
}
