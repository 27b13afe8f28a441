import {
  areUnique,
  every,
  expectThat,
  isObject,
  isText,
  type JsonRecord,
  objectIn,
  objectLines,
  objectsOf,
  type Player,
  type Reaction,
  reaps,
  rulesForClients,
  saidBy,
  skip,
  waits,
  wordsOf,
} from '../../kit/index.ts'
import { SECTIONS } from './sections.ts'

const TYPES: readonly unknown[] = ['user', 'control_request', 'control_response', 'control_cancel_request']
const ASKED = 'ask-1'
const isResult = (text: string): boolean => text.includes('"type":"result"')
const BEHAVIOR = /^(?:allow|deny)$/i

/** The rules for clients that drive the CLI as it shipped. */
export const clientRules = rulesForClients('qwen-code', SECTIONS, {
  '2.objects': objectLines,
  '2.formats': {
    expects: '--input-format stream-json comes with --output-format stream-json',
    judge: ({ visits }) =>
      every(visits, 'start', ({ argv }) => {
        const text = argv.join(' ')
        return /--input-format[ =]stream-json\b/.test(text) && /(?:--output-format|-o)[ =]stream-json\b/.test(text)
      }),
  },
  '2.type': {
    expects: `a line has a known type: ${TYPES.join(', ')}`,
    needs: ['2.objects'],
    judge: (run) => every(saidBy(run), 'line', ({ type }) => TYPES.includes(type)),
  },
  '2.user-message': {
    expects: 'a user line has a message of role user whose content is a text or a list of blocks',
    needs: ['2.objects'],
    judge: (run) =>
      every(saidBy(run, 'user'), 'user line', (line) => {
        const { role, content } = objectIn(line, 'message')
        return role === 'user' && (isText(content) || Array.isArray(content))
      }),
  },
  '3.initialize-first': {
    expects: 'the first line is `initialize`: without it the program asks for no approval and hangs instead',
    needs: ['2.objects'],
    lenient: true,
    judge: ({ visits }) =>
      every(visits, 'start', (visit) => {
        const [first] = objectsOf({ lines: wordsOf(visit) })
        return objectIn(first, 'request')['subtype'] === 'initialize'
      }),
  },
  '3.request': {
    expects: 'a control_request has a request_id of its own, and a `request` with a subtype',
    needs: ['2.objects'],
    judge: (run) => {
      const ids = saidBy(run, 'control_request').map(({ request_id }) => request_id)
      return areUnique(ids)
        ? every(
            saidBy(run, 'control_request'),
            'control_request',
            (line) => isText(line['request_id']) && isText(objectIn(line, 'request')['subtype']),
          )
        : { broken: JSON.stringify(ids) }
    },
  },
  '3.response': {
    expects: 'the question can_use_tool is answered with its request_id and behavior allow or deny',
    judge: (run) => {
      const isAsked = saidBy(run, 'control_request').length > 0 && saidBy(run, 'user').length > 0
      if (!isAsked) return skip('nothing was asked: there was no initialize, or no user message')
      const answers = saidBy(run, 'control_response').map((line) => objectIn(line, 'response'))
      const isGood = (one: JsonRecord): boolean =>
        one['request_id'] === ASKED &&
        (one['subtype'] === 'error' || BEHAVIOR.test(String(objectIn(one, 'response')['behavior'])))
      return expectThat(answers.some(isGood), JSON.stringify(answers))
    },
  },
  '4.waits': {
    expects: 'the client stays until the `result` of its message',
    needs: ['3.response'],
    judge: (run) => waits(run, isResult),
  },
  '4.reaps': {
    expects: 'the process has ended before the client ends',
    needs: ['3.response', '4.waits'],
    judge: reaps,
  },
})

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
