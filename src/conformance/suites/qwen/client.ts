import {
  areUnique,
  type ClientRun,
  every,
  expectThat,
  isObject,
  isText,
  type JsonRecord,
  objectIn,
  objectLines,
  type Player,
  type PlayerContext,
  type Reaction,
  reaps,
  rulesForClients,
  saidBy,
  skip,
  waits,
  writes,
} from '../../kit/index.ts'
import { SECTIONS } from './sections.ts'

const TYPES: readonly unknown[] = [
  'command_hint_request',
  'command_hint_cancel',
  'heartbeat_request',
  'control/cancel',
  'control_response',
]
const chats = (run: ClientRun): JsonRecord[] => saidBy(run).filter((line) => 'input' in line)
const ASKED = 'ask-1'
const replies = (run: ClientRun): JsonRecord[] => saidBy(run).filter(({ type }) => type === 'control_response')
const isFinished = (text: string): boolean => /"event":"Finished"|"finish_reason":"stop"/.test(text)

/** The rules for clients that speak the structured-IO RFC. */
export const clientRules = rulesForClients('qwen', SECTIONS, {
  '8.objects': objectLines,
  '3.formats': {
    expects: 'the program is started with --input-format stream-json or stream-chunk-json',
    judge: ({ visits }) =>
      every(visits, 'start', ({ argv }) => /--input-format[ =]stream-(?:chunk-)?json\b/.test(argv.join(' '))),
  },
  '6.kind': {
    expects: 'a line is a chat request (`input`), a body with `messages`, or a known event by its type',
    needs: ['8.objects'],
    judge: (run) =>
      every(
        saidBy(run),
        'line',
        (line) => isObject(line['input']) || Array.isArray(line['messages']) || TYPES.includes(line['type']),
      ),
  },
  '6.ids': {
    expects: 'a chat request has session_id and prompt_id, strings that are not empty',
    needs: ['8.objects'],
    judge: (run) =>
      every(chats(run), 'chat request', ({ session_id, prompt_id }) => isText(session_id) && isText(prompt_id)),
  },
  '6.parts': {
    expects: 'input has origin user, tool_response or system, and parts with a type',
    needs: ['8.objects'],
    judge: (run) =>
      every(chats(run), 'chat request', (line) => {
        const { origin, parts } = objectIn(line, 'input')
        const isKnown = /^(?:user|tool_response|system)$/.test(String(origin))
        return isKnown && Array.isArray(parts) && parts.every((part) => isObject(part) && isText(part['type']))
      }),
  },
  '6.unique-prompts': {
    expects: 'prompt_id distinguishes turns: only a tool’s result has the one of another request',
    needs: ['8.objects'],
    judge: (run) => {
      const ids = chats(run)
        .filter((line) => objectIn(line, 'input')['origin'] !== 'tool_response')
        .map(({ prompt_id }) => prompt_id)
      return expectThat(areUnique(ids), JSON.stringify(ids))
    },
  },
  '9.response': {
    expects: 'the control_request is answered with its request_id and a response',
    judge: (run) =>
      chats(run).length === 0
        ? skip('no chat request was sent')
        : expectThat(
            replies(run).some(({ request_id, response }) => request_id === ASKED && isObject(response)),
            `${replies(run).length} answers`,
          ),
  },
  '4.waits': {
    expects: 'the client stays until the end of its turn',
    needs: ['9.response'],
    judge: (run) => waits(run, isFinished),
  },
  '11.reaps': {
    expects: 'the process has ended before the client ends',
    needs: ['9.response', '4.waits'],
    judge: reaps,
  },
})

/** Plays the program: a question before the answer of a chat request, and the answer when it was answered. */
export function play({ argv }: PlayerContext): Player {
  const isChunked = /--output-format[ =]stream-chunk-json\b/.test(argv.join(' '))
  return {
    line: ({ object = {} }) => {
      const { type, session_id } = object
      if (type === 'heartbeat_request') return [writes({ type: 'result/heartbeat', session_id, status: 'ok', ts: 1 })]
      if (type === 'control/cancel') {
        return [writes({ type: 'result/cancel', session_id, status: 'noop', reason: 'nothing runs' })]
      }
      if (type === 'control_response') return answer(isChunked)
      if (Array.isArray(object['messages'])) return answer(isChunked)
      return 'input' in object ? [writes(QUESTION)] : []
    },
  }
}

const QUESTION = {
  type: 'control_request',
  request_id: ASKED,
  subtype: 'can_use_tool',
  tool: { name: 'shell', arguments: { command: 'true' } },
  metadata: {},
}

function answer(isChunked: boolean): Reaction[] {
  const head = { id: 'chatcmpl-1', created: 1, model: 'conformance-1' }
  const metadata = {
    protocol_version: '1.0',
    input_format: 'stream-json',
    output_format: 'stream-json',
    capabilities: {},
  }
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
  const line = (choice: JsonRecord, more: JsonRecord = {}): Reaction =>
    writes({
      object: isChunked ? 'chat.completion.chunk' : 'chat.completion',
      ...head,
      choices: [{ index: 0, ...choice }],
      ...more,
    })
  return isChunked
    ? [
        line({ delta: { role: 'assistant' } }, { metadata }),
        line({ delta: { content: 'All' } }),
        { pause: 200 },
        line({ delta: { content: ' well.' } }),
        line({ delta: {}, finish_reason: 'stop' }, { usage }),
      ]
    : [
        { pause: 200 },
        line({ message: { role: 'assistant', content: 'All well.' }, finish_reason: 'stop' }, { metadata, usage }),
        writes({ type: 'x-qwen-session-event', event: 'Finished' }),
      ]
}
