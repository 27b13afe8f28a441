import {
  type ClientRun,
  every,
  expectThat,
  isObject,
  isText,
  type JsonRecord,
  modelClientRows,
  recordsIn,
  rulesForClients,
  sayings,
  show,
} from '../../../kit/index.ts'
import { SECTIONS } from './sections.ts'

const asked = (run: ClientRun): JsonRecord[] => sayings(run, '/responses')
const items = (run: ClientRun): JsonRecord[] => asked(run).flatMap((body) => recordsIn(body, 'input'))
const ROLES: readonly unknown[] = ['user', 'assistant', 'system', 'developer']

/** The outputs of functions without their call, of input that has no earlier response. */
function strayOutputs(body: JsonRecord): JsonRecord[] {
  const own = recordsIn(body, 'input')
  const ids = own.filter(({ type }) => type === 'function_call').map(({ call_id }) => call_id)
  if (isText(body['previous_response_id']) || body['conversation']) return []
  return own.filter(({ type, call_id }) => type === 'function_call_output' && !ids.includes(call_id))
}

/** The rules for clients of the Responses API. */
export const clientRules = rulesForClients('openai-responses', SECTIONS, {
  ...modelClientRows({
    path: '/responses',
    members: 'a `model`, and text or a list of items as `input`',
    isRequest: ({ model, input }) => isText(model) && (typeof input === 'string' || Array.isArray(input)),
    tool: 'function has a name and a schema on its own level',
    isTool: ({ type, name, parameters = {} }) =>
      type !== 'function' || (isText(name) && (parameters === null || isObject(parameters))),
    end: /"response\.(completed|incomplete|failed)"|"output"|"error"|"list"/,
  }),
  '1.items': {
    expects: 'an item of the input is an object with a type, or a message with a role and content',
    needs: ['1.body'],
    judge: (run) =>
      every(items(run).length > 0 ? items(run) : [{ type: 'message', role: 'user', content: '' }], 'item', (item) => {
        const { type = 'message', role, content } = item
        if (type !== 'message') return isText(type)
        return ROLES.includes(role) && (typeof content === 'string' || Array.isArray(content))
      }),
  },
  '4.outputs': {
    expects: 'the output of a function names a call of the input, or of the response before',
    needs: ['1.body'],
    judge: (run) => {
      const stray = asked(run).flatMap(strayOutputs)
      return expectThat(stray.length === 0, show(stray[0]))
    },
  },
})
