import {
  type ClientRun,
  endsByItself,
  every,
  expectThat,
  isCount,
  isObject,
  isText,
  type JsonRecord,
  postsJson,
  recordsIn,
  rulesForClients,
  sayings,
  show,
  waits,
} from '../../kit/index.ts'
import { SECTIONS } from './sections.ts'

const asked = (run: ClientRun): JsonRecord[] => sayings(run, '/messages')
const messages = (run: ClientRun): JsonRecord[] => asked(run).flatMap((body) => recordsIn(body, 'messages'))
const blocksOf = (message: JsonRecord): JsonRecord[] => recordsIn(message, 'content')

/** The uses of tools whose result is not in the very next message. */
function openUses(body: JsonRecord): JsonRecord[] {
  const all = recordsIn(body, 'messages')
  return all.flatMap((message, at) => {
    const results = blocksOf(all[at + 1] ?? {}).map(({ tool_use_id: id }) => id)
    return blocksOf(message).filter(({ type, id }) => type === 'tool_use' && !results.includes(id))
  })
}

/** The rules for clients of the Messages API. */
export const clientRules = rulesForClients('anthropic', SECTIONS, {
  '1.post': {
    expects: 'a request is a POST of application/json to …/messages',
    judge: ({ visits, ...rest }) =>
      postsJson(
        { ...rest, visits: visits.filter(({ request }) => !request?.path.includes('/count_tokens')) },
        '/messages',
      ),
  },
  '1.version': {
    expects: 'a request has the header `anthropic-version`',
    judge: ({ visits }) =>
      every(
        visits.flatMap(({ request }) => request ?? []),
        'request',
        ({ headers }) => /^\d{4}-\d\d-\d\d$/.test(headers['anthropic-version'] ?? ''),
      ),
  },
  '1.body': {
    expects: 'a request is one JSON object with a `model`, `max_tokens` and a list of messages that is not empty',
    judge: (run) =>
      every(
        asked(run),
        'request',
        (body) => isText(body['model']) && isCount(body['max_tokens']) && recordsIn(body, 'messages').length > 0,
      ),
  },
  '1.messages': {
    expects: 'a message has a role of the text, and text or blocks with a type',
    needs: ['1.body'],
    judge: (run) =>
      every(
        messages(run),
        'message',
        ({ role, content }) =>
          ['user', 'assistant', 'system'].includes(String(role)) &&
          (typeof content === 'string' ||
            (Array.isArray(content) && content.every((block) => isObject(block) && isText(block['type'])))),
      ),
  },
  '1.stream': {
    expects: '`stream` is true or false',
    needs: ['1.body'],
    judge: (run) => every(asked(run), 'request', ({ stream = false }) => [true, false].includes(stream as boolean)),
  },
  '4.tools': {
    expects: 'a declared tool has a name, and a schema unless it has a type of its own',
    needs: ['1.body'],
    judge: (run) =>
      every(
        asked(run).flatMap((body) => recordsIn(body, 'tools')),
        'tool',
        ({ name, type = 'custom', input_schema: schema }) =>
          isText(name) && ((type !== 'custom' && type !== null) || isObject(schema)),
      ),
  },
  '4.results': {
    expects: 'the message after one with `tool_use` has the result of each',
    needs: ['1.body'],
    judge: (run) => {
      const open = asked(run).flatMap(openUses)
      return expectThat(open.length === 0, show(open[0]))
    },
  },
  '3.waits': {
    expects: 'the client waits for the end of the answer',
    judge: (run) => waits(run, (text) => /"message_stop"|"type":"message"|"error"|"data"|"input_tokens"/.test(text)),
  },
  '1.ends': endsByItself,
})
