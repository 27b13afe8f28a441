import {
  type ClientRun,
  every,
  expectThat,
  isObject,
  isText,
  type JsonRecord,
  modelClientRows,
  objectIn,
  recordsIn,
  rulesForClients,
  sayings,
  show,
} from '../../../kit/index.ts'
import { SECTIONS } from './sections.ts'

const PATH = '/chat/completions'
const ROLES: readonly unknown[] = ['system', 'developer', 'user', 'assistant', 'tool', 'function']
const asked = (run: ClientRun): JsonRecord[] => sayings(run, PATH)
const messages = (run: ClientRun): JsonRecord[] => asked(run).flatMap((body) => recordsIn(body, 'messages'))

/** The calls of a conversation that no result follows. */
function openCalls(body: JsonRecord): unknown[] {
  const all = recordsIn(body, 'messages')
  const results = all.map(({ tool_call_id: id }) => id)
  return all.flatMap((message) => recordsIn(message, 'tool_calls')).filter(({ id }) => !results.includes(id))
}

/** The rules for clients of Chat Completions. */
export const clientRules = rulesForClients('openai-chat', SECTIONS, {
  ...modelClientRows({
    path: PATH,
    members: 'a `model` and a list of messages that is not empty',
    isRequest: (body) => isText(body['model']) && recordsIn(body, 'messages').length > 0,
    tool: 'function has a name of letters, digits, `_` and `-`, and a schema',
    isTool: (tool) => {
      const { name, parameters = {} } = objectIn(tool, 'function')
      return tool['type'] !== 'function' || (/^[\w-]{1,64}$/.test(String(name)) && isObject(parameters))
    },
    end: /\[DONE\]|"chat\.completion"|"error"|"list"|"model"/,
  }),
  '1.role': {
    expects: 'a message has a role of the text',
    needs: ['1.body'],
    judge: (run) => every(messages(run), 'message', ({ role }) => ROLES.includes(role)),
  },
  '1.content': {
    expects: 'the content of a message is text, or a list of parts with a type; an assistant may have none',
    needs: ['1.body'],
    judge: (run) =>
      every(messages(run), 'message', (message) => {
        const { content = null, role } = message
        if (Array.isArray(content)) return content.every((part) => isObject(part) && isText(part['type']))
        return typeof content === 'string' || (content === null && role === 'assistant')
      }),
  },
  '1.stream': {
    expects: '`stream` is true, false or null; `stream_options` are only sent with true',
    needs: ['1.body'],
    judge: (run) =>
      every(
        asked(run),
        'request',
        ({ stream = null, stream_options: options = null }) =>
          [true, false, null].includes(stream as boolean | null) && (options === null || stream === true),
      ),
  },
  '4.results': {
    expects: 'every call of an answer has a result in the messages that follow it',
    needs: ['1.body'],
    judge: (run) => {
      const open = asked(run).flatMap(openCalls)
      return expectThat(open.length === 0, show(open[0]))
    },
  },
})
