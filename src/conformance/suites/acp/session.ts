import {
  type AgentRow,
  expectThat,
  fits,
  isCount,
  isObject,
  isText,
  none,
  objectIn,
  objectsOf,
  show,
  skip,
} from '../../kit/index.ts'
import { answerTo, capabilities, errorCode, inSession, resultOf } from './read.ts'
import { isAnswer, sessionId, updateOf } from './scenarios.ts'

/** The rules about the beginning of a connection, and about sessions. */
export const sessionRows = {
  '2.version': {
    expects: '`initialize` with version 1 is answered with version 1',
    on: ['turn'],
    judge: (run) => fits(answerTo(run, 'i1'), () => resultOf(run, 'i1')['protocolVersion'] === 1),
  },
  '2.capabilities': {
    expects: 'agentCapabilities are an object, authMethods a list of objects with id and name',
    on: ['turn'],
    needs: ['2.version'],
    judge: (run) =>
      fits(
        resultOf(run, 'i1'),
        ({ agentCapabilities = {}, authMethods = [] }) =>
          isObject(agentCapabilities) &&
          Array.isArray(authMethods) &&
          authMethods.every((one) => isObject(one) && isText(one['id']) && isText(one['name'])),
      ),
  },
  '2.other-version': {
    expects: '`initialize` with a version that the agent does not have is answered with one that it has',
    on: ['other-version'],
    judge: (run) =>
      fits(
        resultOf(run, 'i1')['protocolVersion'] ?? answerTo(run, 'i1'),
        (version) => isCount(version) && version !== 999,
      ),
  },
  '3.session-id': {
    expects: '`session/new` is answered with a sessionId',
    on: ['turn'],
    needs: ['2.version'],
    judge: (run) =>
      errorCode(run, 'n1') === -32000
        ? skip('the agent wants a login')
        : fits(answerTo(run, 'n1'), () => isText(resultOf(run, 'n1')['sessionId'])),
  },
  '3.no-early-update': {
    expects: 'no update of a session comes before the answer that opens it',
    on: ['turn'],
    needs: ['3.session-id'],
    judge: inSession((run) => {
      const opened = objectsOf(run).findIndex((one) => isAnswer(one, 'n1'))
      return none(
        objectsOf(run)
          .slice(0, opened)
          .filter(({ method }) => method === 'session/update'),
      )
    }),
  },
  '3.parameters': {
    expects: '`session/new` without its parameters is answered with an error, -32602',
    on: ['mistakes'],
    lenient: true,
    judge: (run) => fits(answerTo(run, 'x1'), () => errorCode(run, 'x1') === -32602),
  },
  '3.load': {
    expects: 'an agent with `loadSession` replays a session as updates, then answers; any other answers with an error',
    on: ['load'],
    judge: (run, earlier) => {
      if (sessionId([], earlier) === undefined) return skip('no session was opened')
      if (capabilities(run)['loadSession'] !== true) return fits(answerTo(run, 'l2'), (one) => isObject(one?.['error']))
      const all = objectsOf(run)
      const answer = all.findIndex((one) => isAnswer(one, 'l2'))
      const replay = all.map((one) => updateOf(one)['sessionUpdate'])
      const isChunk = (kind: unknown): boolean => String(kind).endsWith('_message_chunk')
      return expectThat(
        isObject(all[answer]) &&
          !('error' in all[answer]) &&
          replay.slice(0, answer).some(isChunk) &&
          !replay.slice(answer).some(isChunk),
        show({ answer: all[answer], replay }),
      )
    },
  },
  '4.list': {
    expects: 'an agent that offers the list gives sessions with a sessionId and a cwd; any other answers with an error',
    on: ['list'],
    judge: (run) => {
      const offered = objectIn(capabilities(run), 'sessionCapabilities')['list']
      if (offered === undefined || offered === null) {
        return fits(answerTo(run, 'l1'), (one) => isObject(one?.['error']))
      }
      const { sessions } = resultOf(run, 'l1')
      return fits(
        sessions ?? answerTo(run, 'l1'),
        (list) =>
          Array.isArray(list) && list.every((one) => isObject(one) && isText(one['sessionId']) && isText(one['cwd'])),
      )
    },
  },
} as const satisfies Readonly<Record<string, AgentRow>>
