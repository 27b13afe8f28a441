import {
  areUnique,
  type ClientRun,
  every,
  expectThat,
  isCount,
  isObject,
  isText,
  type JsonRecord,
  objectIn,
  objectLines,
  objectsOf,
  reaps,
  rulesForClients,
  saidBy,
  show,
  skip,
  waits,
  wordsOf,
} from '../../kit/index.ts'
import { ASK, OPTIONS, SESSION_ID, UNKNOWN } from './play.ts'
import { SECTIONS } from './sections.ts'

const called = (run: ClientRun, method: string): JsonRecord[] => saidBy(run).filter((one) => one['method'] === method)
const requests = (messages: readonly JsonRecord[]): JsonRecord[] =>
  messages.filter((one) => 'method' in one && 'id' in one)
const paramsOf = (message: JsonRecord): JsonRecord => objectIn(message, 'params')
const answersTo = (run: ClientRun, asked: string): JsonRecord[] =>
  saidBy(run).filter((one) => one['id'] === asked && !('method' in one))
/** True for a path of any system. */
const isAbsolute = (path: unknown): boolean => typeof path === 'string' && /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(path)

/** The rules for clients, such as editors. */
export const clientRules = rulesForClients('acp', SECTIONS, {
  '9.objects': objectLines,
  '1.message': {
    expects: 'a message is JSON-RPC 2.0: a request, a notification, or an answer with a result or an error',
    needs: ['9.objects'],
    judge: (run) =>
      every(
        saidBy(run),
        'message',
        (one) => one['jsonrpc'] === '2.0' && (isText(one['method']) || 'result' in one !== 'error' in one),
      ),
  },
  '1.ids': {
    expects: 'no two requests of a connection have the same id',
    needs: ['9.objects'],
    judge: ({ visits }) =>
      every(
        visits.map((visit) => requests(objectsOf({ lines: wordsOf(visit) })).map(({ id }) => id)),
        'start',
        areUnique,
      ),
  },
  '2.first': {
    expects: 'the first message is `initialize` with a version, and nothing comes before its answer',
    needs: ['9.objects'],
    judge: ({ visits }) =>
      every(visits, 'start', ({ heard }) => {
        const out = heard.findIndex((one) => one.is === 'out')
        const early = (out < 0 ? heard : heard.slice(0, out)).flatMap((one) =>
          one.is === 'in' && one.line.object ? [one.line.object] : [],
        )
        const [first] = early
        return early.length === 1 && first!['method'] === 'initialize' && isCount(paramsOf(first!)['protocolVersion'])
      }),
  },
  '3.new': {
    expects: '`session/new` has an absolute cwd and a list of mcpServers',
    needs: ['2.first'],
    judge: (run) =>
      every(called(run, 'session/new'), 'session/new', (message) => {
        const { cwd, mcpServers } = paramsOf(message)
        return isAbsolute(cwd) && Array.isArray(mcpServers)
      }),
  },
  '5.prompt': {
    expects: 'a prompt names the session that it was given, and has blocks with a type',
    needs: ['3.new'],
    judge: (run) =>
      every(called(run, 'session/prompt'), 'prompt', (message) => {
        const { sessionId, prompt } = paramsOf(message)
        return (
          sessionId === SESSION_ID &&
          Array.isArray(prompt) &&
          prompt.length > 0 &&
          prompt.every((block) => isObject(block) && isText(block['type']))
        )
      }),
  },
  '5.waits': {
    expects: 'the client waits for the answer to its prompt',
    judge: (run) =>
      called(run, 'session/prompt').length === 0
        ? skip('no prompt was sent')
        : waits(run, (text) => text.includes('"stopReason"')),
  },
  '6.permission': {
    expects: 'a request for a permission is answered with one of its options, or as cancelled',
    needs: ['5.prompt', '5.waits'],
    judge: (run) => {
      if (called(run, 'session/prompt').length === 0) return skip('no prompt was sent')
      const [answer] = answersTo(run, ASK)
      const { outcome, optionId } = objectIn(objectIn(answer, 'result'), 'outcome')
      const isOption = outcome === 'selected' && OPTIONS.some((one) => one.optionId === optionId)
      return expectThat(isOption || outcome === 'cancelled', show(answer))
    },
  },
  '8.unknown-method': {
    expects: 'a request with a method that the client does not have is answered with -32601',
    needs: ['5.prompt', '5.waits'],
    judge: (run) => {
      if (called(run, 'session/prompt').length === 0) return skip('no prompt was sent')
      const [answer] = answersTo(run, UNKNOWN)
      return expectThat(objectIn(answer, 'error')['code'] === -32601, show(answer))
    },
  },
  '9.reaps': {
    expects: 'the agent is ended before the client ends',
    needs: ['5.waits'],
    judge: reaps,
  },
})
