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
  ofRefusals,
  onAnswers,
  recordsIn,
  refused,
  rulesForAgents,
  show,
  skip,
  streamed,
  TOOL,
} from '../../kit/index.ts'
import { STOPS } from './read.ts'
import { SECTIONS } from './sections.ts'
import { STREAMS, streamRows } from './stream.ts'

const PLAIN = ['whole', 'conversation', 'unicode', 'big', 'after-cut']
const WHOLE = [...PLAIN, 'limit', 'tool', 'parallel', 'no-tools', 'tool-result']
const REFUSED = ['no-json', 'no-messages', 'no-limit', 'unknown-model', 'unknown-model-stream', 'unknown-result']

const usesOf = (run: AgentRun): JsonRecord[] =>
  recordsIn(bodyOf(run), 'content').filter(({ type }) => type === 'tool_use')

/** The rules for servers of the Messages API. */
export const agentRules = rulesForAgents('anthropic', SECTIONS, {
  ...modelRows({
    plain: PLAIN,
    questions: 'text, blocks, a system prompt',
    whole: WHOLE,
    streams: STREAMS,
    callsOf: usesOf,
    id: 'id',
    call: '4.use',
    unknownModel: [404],
    hasBegun: (run) => streamed(run, 'message_start').length > 0,
  }),
  '7.list': {
    expects: 'the list of models has an `id` and the type `model` for each, and says whether there are more',
    on: ['models'],
    lenient: true,
    judge: (run) =>
      every(
        typeof bodyOf(run)['has_more'] === 'boolean' ? recordsIn(bodyOf(run), 'data') : [bodyOf(run)],
        'model',
        ({ id, type }) => isText(id) && type === 'model',
      ),
  },
  '2.object': onAnswers(WHOLE, {
    expects: 'an answer is a `message` of the assistant with an id, a model and blocks with a type',
    judge: (run) =>
      fits(
        bodyOf(run),
        (body) =>
          isText(body['id']) &&
          body['type'] === 'message' &&
          body['role'] === 'assistant' &&
          typeof body['model'] === 'string' &&
          Array.isArray(body['content']) &&
          body['content'].every((block) => isObject(block) && isText(block['type'])),
      ),
  }),
  '2.stop-reason': onAnswers(WHOLE, {
    expects: 'an answer has a stop_reason of the text',
    needs: ['2.object'],
    judge: (run) => fits(bodyOf(run)['stop_reason'], (reason) => STOPS.includes(reason)),
  }),
  '2.text': {
    expects: 'an answer without tools has a block of text that is not empty',
    on: ['whole'],
    needs: ['1.answered', '2.object'],
    judge: (run) =>
      expectThat(
        recordsIn(bodyOf(run), 'content').some(({ type, text }) => type === 'text' && isText(text)),
        show(bodyOf(run)['content']),
      ),
  },
  '2.usage': onAnswers(WHOLE, {
    expects: 'usage has the counts of input_tokens and output_tokens',
    needs: ['2.object'],
    judge: (run) =>
      fits(
        objectIn(bodyOf(run), 'usage'),
        (usage) => isCount(usage['input_tokens']) && isCount(usage['output_tokens']),
      ),
  }),
  '2.max-tokens': limitRow(
    {
      expects: 'an answer that reaches max_tokens has the stop_reason `max_tokens`',
      needs: ['2.stop-reason'],
    },
    (run) => objectIn(bodyOf(run), 'usage')['output_tokens'],
    (run) => bodyOf(run)['stop_reason'],
    'max_tokens',
  ),
  ...streamRows,
  '4.use': onAnswers(['tool', 'parallel'], {
    expects: 'a `tool_use` has an id, the name of a declared tool, and an object as input',
    needs: ['2.object'],
    judge: (run) =>
      every(usesOf(run), 'use of a tool', ({ id, name, input }) => isText(id) && name === TOOL.name && isObject(input)),
  }),
  '4.stop-reason': onAnswers(['tool', 'parallel'], {
    expects: 'an answer with a `tool_use` has the stop_reason `tool_use`',
    needs: ['2.stop-reason'],
    judge: (run) =>
      usesOf(run).length === 0
        ? skip('the model used no tool')
        : expectThat(bodyOf(run)['stop_reason'] === 'tool_use', show(bodyOf(run)['stop_reason'])),
  }),
  '4.unknown-result': {
    expects: 'the result of a use that the messages do not have is refused',
    on: ['unknown-result'],
    lenient: true,
    judge: refused(),
  },
  '5.error': {
    expects: 'a refusal is `{"type":"error","error":{…}}` with a type and a message',
    on: REFUSED,
    judge: ofRefusals((run) => {
      const { type, message } = objectIn(bodyOf(run), 'error')
      return expectThat(bodyOf(run)['type'] === 'error' && isText(type) && isText(message), show(run.output))
    }),
  },
  '5.bad-request': {
    expects: 'what is no JSON, or has no messages or no max_tokens, is refused with 400 as invalid_request_error',
    on: ['no-json', 'no-messages', 'no-limit'],
    needs: ['5.error'],
    judge: (run) =>
      refused(400)(run) ?? fits(objectIn(bodyOf(run), 'error')['type'], (type) => type === 'invalid_request_error'),
  },
  '5.unknown-model': {
    expects: 'an unknown model is refused with 404 as not_found_error',
    on: ['unknown-model'],
    needs: ['5.error'],
    lenient: true,
    judge: (run) =>
      refused(404)(run) ?? fits(objectIn(bodyOf(run), 'error')['type'], (type) => type === 'not_found_error'),
  },
  '5.request-id': {
    expects: 'every answer has the header `request-id`',
    on: [...WHOLE, ...REFUSED],
    lenient: true,
    judge: ({ headers }) => expectThat(isText(headers?.['request-id']), show(headers?.['request-id'])),
  },
  '6.count': {
    expects: 'the tokens of a request are counted',
    on: ['count'],
    lenient: true,
    judge: (run) => expectThat(isCount(bodyOf(run)['input_tokens']), `${run.status} ${run.output}`),
  },
})
