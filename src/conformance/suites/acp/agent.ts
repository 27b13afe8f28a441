import {
  every,
  exactly,
  exits,
  expectThat,
  fits,
  isObject,
  isText,
  type JsonRecord,
  lineRules,
  objectsOf,
  rulesForAgents,
  show,
} from '../../kit/index.ts'
import { answers, errorCode } from './read.ts'
import { SENT } from './scenarios.ts'
import { SECTIONS } from './sections.ts'
import { sessionRows } from './session.ts'
import { turnRows } from './turn.ts'

const METHOD_NOT_FOUND = -32601

const isMessage = (message: JsonRecord): boolean => {
  const { jsonrpc, id, method } = message
  if (jsonrpc !== '2.0') return false
  if (method !== undefined) return isText(method) && !('result' in message) && !('error' in message)
  return id !== undefined && 'result' in message !== 'error' in message
}

/** The rules for agents. */
export const agentRules = rulesForAgents('acp', SECTIONS, {
  ...lineRules('9'),
  '1.message': {
    expects: 'a message is JSON-RPC 2.0: a request, a notification, or an answer with a result or an error',
    judge: (run) => every(objectsOf(run), 'message', isMessage),
  },
  '1.one-answer': {
    expects: 'every request is answered once, and nothing else is answered',
    on: Object.keys(SENT).filter((name) => name !== 'mistakes' && name !== 'ids'),
    judge: (run) => {
      const ids: unknown[] = answers(run)
        .map(({ id }) => id)
        .filter((id) => id !== null && id !== undefined)
      const sent: readonly unknown[] = SENT[run.scenario]!
      const missing = sent.filter((id) => !ids.includes(id))
      return expectThat(missing.length === 0 && ids.length === sent.length, show({ answered: ids, missing }))
    },
  },
  '1.ids': {
    expects: 'the id of an answer is that of its request: 0, 42, or any text',
    on: ['ids'],
    judge: (run) =>
      fits(
        answers(run).map(({ id }) => id),
        (ids) => [0, 42, 'ü-😀'].every((id) => ids.includes(id)),
      ),
  },
  '1.error': {
    expects: 'an error has a whole number as its code, and a message',
    on: ['mistakes'],
    judge: (run) =>
      every(
        answers(run).flatMap(({ error }) => (error === undefined ? [] : [error])),
        'error',
        (error) => isObject(error) && Number.isInteger(error['code']) && typeof error['message'] === 'string',
      ),
  },

  ...sessionRows,
  ...turnRows,
  '8.unknown-method': {
    expects: 'a request with an unknown method is answered with -32601',
    on: ['mistakes', 'ids'],
    judge: (run) =>
      every<string | number>(
        run.scenario === 'ids' ? [0, 42] : ['u1'],
        'request',
        (id) => errorCode(run, id) === METHOD_NOT_FOUND,
      ),
  },
  '9.goes-on': {
    expects: 'a line that is no JSON, an unknown notification, and a cancel without a turn do not end the process',
    on: ['mistakes'],
    judge: (run) =>
      exactly(
        1,
        answers(run).filter(({ id }) => id === 'u2'),
        'answers to the last request',
      ),
  },
  '9.parse-error': {
    expects: 'a line that is not JSON is answered with -32700 and the id null',
    on: ['mistakes'],
    lenient: true,
    judge: (run) =>
      exactly(
        1,
        answers(run).filter(({ id, error }) => id === null && isObject(error) && error['code'] === -32700),
        'such errors',
      ),
  },
  '9.exits': {
    expects: 'the process exits by itself when its input ends',
    judge: exits,
  },
})
