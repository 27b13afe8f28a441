import {
  type ClientRun,
  every,
  expectThat,
  isCount,
  isObject,
  isText,
  type JsonRecord,
  modelClientRows,
  recordsIn,
  rulesForClients,
  sayings,
  show,
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
  ...modelClientRows({
    path: '/messages',
    others: '/count_tokens',
    members: 'a `model`, `max_tokens` and a list of messages that is not empty',
    isRequest: (body) => isText(body['model']) && isCount(body['max_tokens']) && recordsIn(body, 'messages').length > 0,
    tool: 'tool has a name, and a schema unless it has a type of its own',
    isTool: ({ name, type = 'custom', input_schema: schema }) =>
      isText(name) && ((type !== 'custom' && type !== null) || isObject(schema)),
    end: /"message_stop"|"type":"message"|"error"|"data"|"input_tokens"/,
  }),
  '1.version': {
    expects: 'a request has the header `anthropic-version`',
    judge: ({ visits }) =>
      every(
        visits.flatMap(({ request }) => request ?? []),
        'request',
        ({ headers }) => /^\d{4}-\d\d-\d\d$/.test(headers['anthropic-version'] ?? ''),
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
  '4.results': {
    expects: 'the message after one with `tool_use` has the result of each',
    needs: ['1.body'],
    judge: (run) => {
      const open = asked(run).flatMap(openUses)
      return expectThat(open.length === 0, show(open[0]))
    },
  },
})
