import {
  type AgentRun,
  bodyOf,
  every,
  expectThat,
  fits,
  isCount,
  isObject,
  isText,
  type JsonRecord,
  limitRow,
  modelRows,
  objectIn,
  onAnswers,
  parsed,
  recordsIn,
  refused,
  rulesForAgents,
  show,
  skip,
  streamed,
  TOOL,
} from '../../../kit/index.ts'
import { errorRow } from '../common.ts'
import { itemsOf, partsIn } from './read.ts'
import { firstId } from './scenarios.ts'
import { SECTIONS } from './sections.ts'
import { STREAMS, streamRows } from './stream.ts'

const PLAIN = ['whole', 'items', 'unicode', 'big', 'after-cut']
const WHOLE = [...PLAIN, 'limit', 'tool', 'parallel', 'no-tools', 'tool-result', 'chain']
const REFUSED = ['no-json', 'unknown-model', 'unknown-model-stream', 'unknown-chain', 'limit']
const STATUSES: readonly unknown[] = ['completed', 'failed', 'in_progress', 'cancelled', 'queued', 'incomplete']

const callsOf = (run: AgentRun): JsonRecord[] => itemsOf(run, 'function_call')
const isUsage = ({ input_tokens: input, output_tokens: output, total_tokens: total }: JsonRecord): boolean =>
  [input, output, total].every(isCount) && Number(input) + Number(output) === total

/** The rules for servers of the Responses API. */
export const agentRules = rulesForAgents('openai-responses', SECTIONS, {
  ...modelRows({
    plain: PLAIN,
    questions: 'text, items of every role',
    whole: WHOLE,
    streams: STREAMS,
    callsOf,
    id: 'call_id',
    call: '4.call',
    unknownModel: [400, 404],
    hasBegun: (run) => streamed(run, 'response.created').length > 0,
  }),
  '2.object': onAnswers(WHOLE, {
    expects: 'an answer is a `response` with an id, a time, a model, a status and a list of output',
    judge: (run) =>
      fits(
        bodyOf(run),
        (body) =>
          isText(body['id']) &&
          body['object'] === 'response' &&
          typeof body['created_at'] === 'number' &&
          typeof body['model'] === 'string' &&
          STATUSES.includes(body['status']) &&
          Array.isArray(body['output']),
      ),
  }),
  '2.completed': onAnswers(PLAIN, {
    expects: 'a finished answer has the status `completed`, no error and no incomplete_details',
    needs: ['2.object'],
    judge: (run) =>
      fits(
        bodyOf(run),
        ({ status, error = null, incomplete_details: why = null }) =>
          status === 'completed' && error === null && why === null,
      ),
  }),
  '2.message': onAnswers(['whole'], {
    expects: 'the output has a message of the assistant with an id, a status and parts of text with annotations',
    needs: ['2.object'],
    judge: (run) =>
      every(
        itemsOf(run, 'message').length > 0 ? itemsOf(run, 'message') : [bodyOf(run)],
        'message',
        (item) =>
          isText(item['id']) &&
          item['role'] === 'assistant' &&
          isText(item['status']) &&
          partsIn([item]).length > 0 &&
          partsIn([item]).every(
            ({ type, text, annotations, refusal }) =>
              (type === 'output_text' && typeof text === 'string' && Array.isArray(annotations)) || isText(refusal),
          ),
      ),
  }),
  '2.usage': onAnswers(WHOLE, {
    expects: 'usage has the counts of input and output, and their sum',
    needs: ['2.object'],
    judge: (run) => {
      const { usage } = bodyOf(run)
      return isObject(usage) ? fits(usage, isUsage) : skip('the server reports no usage')
    },
  }),
  '2.incomplete': limitRow(
    {
      expects: 'an answer that reaches the limit of tokens is `incomplete` for `max_output_tokens`',
      needs: ['2.object'],
    },
    (run) => objectIn(bodyOf(run), 'usage')['output_tokens'],
    (run) => `${bodyOf(run)['status']} ${objectIn(bodyOf(run), 'incomplete_details')['reason']}`,
    'incomplete max_output_tokens',
  ),
  ...streamRows,
  '4.call': onAnswers(['tool', 'parallel'], {
    expects: 'a call has a call_id, the name of a declared function, and a JSON object as arguments',
    needs: ['2.object'],
    judge: (run) =>
      every(
        callsOf(run),
        'call',
        ({ call_id, name, arguments: args }) =>
          isText(call_id) && name === TOOL.name && typeof args === 'string' && isObject(parsed(args)),
      ),
  }),
  '5.error': errorRow(REFUSED),
  '5.bad-request': { expects: 'what is no JSON is refused with 400 or 422', on: ['no-json'], judge: refused(400, 422) },
  '6.chain': {
    expects: 'an answer to `previous_response_id` names it',
    on: ['chain'],
    lenient: true,
    judge: (run, earlier) =>
      expectThat(bodyOf(run)['previous_response_id'] === firstId(earlier), `${run.status} ${run.output}`),
  },
  '6.unknown': {
    expects: 'an unknown previous_response_id is refused',
    on: ['unknown-chain'],
    lenient: true,
    judge: refused(),
  },
  '7.get': {
    expects: 'a response is found by its id, with the same output',
    on: ['get'],
    lenient: true,
    judge: (run, earlier) => {
      const first = earlier.find(({ scenario }) => scenario === 'whole')
      const same = (one: JsonRecord): string => show([one['id'], partsIn(recordsIn(one, 'output'))])
      return expectThat(!!first && same(bodyOf(run)) === same(bodyOf(first)), `${run.status} ${run.output}`)
    },
  },
  '7.input-items': {
    expects: 'the input of a response is a list of items',
    on: ['input-items'],
    lenient: true,
    judge: (run) =>
      expectThat(
        bodyOf(run)['object'] === 'list' && recordsIn(bodyOf(run), 'data').length > 0,
        `${run.status} ${run.output}`,
      ),
  },
  '7.delete': {
    expects: 'a response is deleted by its id',
    on: ['delete'],
    lenient: true,
    judge: (run) => expectThat(bodyOf(run)['deleted'] === true, `${run.status} ${run.output}`),
  },
  '7.deleted': {
    expects: 'a deleted response is not found',
    on: ['get-deleted'],
    needs: ['7.delete'],
    judge: (run, earlier) =>
      earlier.some(({ scenario, output }) => scenario === 'delete' && output.includes('"deleted"'))
        ? refused(404)(run)
        : skip('the response was not deleted'),
  },
})
