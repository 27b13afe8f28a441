import {
  bodyOf,
  every,
  expectThat,
  fits,
  isCount,
  isObject,
  isText,
  limitRow,
  modelRows,
  objectIn,
  onAnswers,
  recordsIn,
  refused,
  rulesForAgents,
  show,
  skip,
} from '../../../kit/index.ts'
import { errorRow } from '../common.ts'
import { argumentsOf, callsOf, choiceOf, choicesOf, FINISHES, isContent, isUsage, messageOf } from './read.ts'
import { SECTIONS } from './sections.ts'
import { STREAMS, streamRows } from './stream.ts'
import { toolRows } from './tools.ts'

const PLAIN = ['whole', 'conversation', 'unicode', 'big', 'after-cut', 'tool-result']
const WHOLE = [...PLAIN, 'limit', 'tool', 'parallel', 'no-tools', 'schema', 'image']
const REFUSED = ['no-json', 'no-messages', 'unknown-model', 'unknown-model-stream', 'unknown-result', 'schema', 'image']

/** The rules for servers of Chat Completions. */
export const agentRules = rulesForAgents('openai-chat', SECTIONS, {
  ...modelRows({
    plain: PLAIN.filter((name) => name !== 'tool-result'),
    questions: 'messages of every role, parts of text',
    whole: WHOLE,
    streams: STREAMS,
    callsOf,
    id: 'id',
    call: '4.call',
    unknownModel: [404],
    hasBegun: (run) => choicesOf(run).length > 0,
  }),
  '6.list': {
    expects: 'the list of models has an `id`, `object: model`, `created` and `owned_by` for each',
    on: ['models'],
    judge: (run) =>
      every(
        bodyOf(run)['object'] === 'list' ? recordsIn(bodyOf(run), 'data') : [bodyOf(run)],
        'model',
        ({ id, object, created, owned_by }) =>
          isText(id) && object === 'model' && isCount(created) && typeof owned_by === 'string',
      ),
  },
  '6.model': {
    expects: 'a model is found by its id',
    on: ['model'],
    lenient: true,
    judge: (run) => fits(bodyOf(run), ({ id, object }) => isText(id) && object === 'model'),
  },
  '2.object': onAnswers(WHOLE, {
    expects: 'an answer is a `chat.completion` with an id, a time, a model and choices',
    judge: (run) =>
      fits(
        bodyOf(run),
        (body) =>
          isText(body['id']) &&
          body['object'] === 'chat.completion' &&
          isCount(body['created']) &&
          typeof body['model'] === 'string' &&
          recordsIn(body, 'choices').length > 0,
      ),
  }),
  '2.choice': onAnswers(WHOLE, {
    expects: 'a choice has its index, a message of the assistant, and a finish reason of the text',
    needs: ['2.object'],
    judge: (run) =>
      fits(
        choiceOf(run),
        ({ index, finish_reason }) =>
          index === 0 &&
          messageOf(run)['role'] === 'assistant' &&
          isContent(messageOf(run)['content']) &&
          FINISHES.includes(finish_reason),
      ),
  }),
  '2.content': {
    expects: 'an answer without calls has text',
    on: ['whole'],
    needs: ['1.answered', '2.choice'],
    judge: (run) => fits(messageOf(run), ({ content, refusal }) => isText(content) || isText(refusal)),
  },
  '2.usage': onAnswers(WHOLE, {
    expects: 'usage has the counts of the prompt and of the completion, and their sum',
    needs: ['2.object'],
    judge: (run) => {
      const { usage } = bodyOf(run)
      return isObject(usage) ? fits(usage, isUsage) : skip('the server reports no usage')
    },
  }),
  '2.length': limitRow(
    {
      expects: 'an answer that reaches the limit of tokens has the finish reason `length`',
      needs: ['2.choice'],
    },
    (run) => objectIn(bodyOf(run), 'usage')['completion_tokens'],
    (run) => choiceOf(run)['finish_reason'],
    'length',
  ),
  '2.schema': onAnswers(['schema'], {
    expects: 'with a JSON schema as `response_format` the content is JSON of it',
    needs: ['2.choice'],
    lenient: true,
    judge: (run) => {
      const { content } = messageOf(run)
      const value = argumentsOf(content)
      return expectThat(isObject(value) && typeof value['word'] === 'string', show(content))
    },
  }),
  ...streamRows,
  ...toolRows,
  '5.error': errorRow(REFUSED),
  '5.bad-request': {
    expects: 'what is no JSON, or has no messages, is refused with 400 or 422',
    on: ['no-json', 'no-messages'],
    judge: refused(400, 422),
  },
})
