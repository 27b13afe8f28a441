import {
  type AgentRun,
  ending,
  every,
  exits,
  expectThat,
  isCount,
  isObject,
  isText,
  type JsonRecord,
  lineRules,
  none,
  objectsOf,
  rulesForAgents,
  saidBy,
  show,
  skip,
} from '../../../kit/index.ts'
import { SECTIONS } from './sections.ts'

const TURNS = ['turn', 'resume', 'permission', 'more', 'unicode', 'big']
const TYPES: readonly unknown[] = ['partial', 'result', 'error', 'permission_request']
const failures = (run: AgentRun): JsonRecord[] => saidBy(run, 'error').filter(({ message }) => isText(message))
const COUNTS = ['input_tokens', 'output_tokens', 'total_tokens'] as const

/** The rules for agents of wire 0.4. */
export const agentRules = rulesForAgents('agentproc-0.4', SECTIONS, {
  ...lineRules('2'),
  '2.type': {
    expects: 'every event is a partial, result, error or permission_request',
    judge: (run) => every(objectsOf(run), 'event', ({ type }) => TYPES.includes(type)),
  },
  '2.partial-text': {
    expects: '`partial.text` is a string; its role, if any, output or thinking',
    judge: (run) =>
      every(
        saidBy(run, 'partial'),
        'partial',
        ({ text, role = 'output' }) => typeof text === 'string' && (role === 'output' || role === 'thinking'),
      ),
  },
  '2.result-text': {
    expects: '`result.text` is a string',
    judge: (run) => every(saidBy(run, 'result'), 'result', ({ text }) => typeof text === 'string'),
  },
  '2.one-result': {
    expects: 'a turn has one result at most',
    judge: (run) => expectThat(saidBy(run, 'result').length <= 1, `${saidBy(run, 'result').length} results`),
  },
  '2.ends': {
    expects: 'a turn ends with a result or an error',
    on: TURNS,
    lenient: true,
    judge: (run) => expectThat(saidBy(run, 'result', 'error').length > 0, show(objectsOf(run).at(-1))),
  },
  '2.result-last': {
    expects: 'nothing follows the result',
    judge: (run) => {
      const all = objectsOf(run)
      const at = all.findIndex(({ type }) => type === 'result')
      const late = all.slice(at + 1).filter(({ type }) => type !== 'result')
      return at < 0 ? skip('no result was seen') : none(late)
    },
  },
  '2.error-message': {
    expects: '`error.message` is a string that is not empty',
    judge: (run) => every(saidBy(run, 'error'), 'error', ({ message }) => isText(message)),
  },
  '2.error-last': {
    expects: 'nothing follows an error',
    lenient: true,
    judge: (run) => {
      const all = objectsOf(run)
      const at = all.findIndex(({ type }) => type === 'error')
      return at < 0 ? skip('no error was seen') : expectThat(at === all.length - 1, show(all[at + 1]))
    },
  },
  '2.session-id': {
    expects: 'a session id holds no path separator and no control character',
    judge: (run) =>
      every(
        objectsOf(run).flatMap(({ session_id }) => (session_id === undefined ? [] : [session_id])),
        'session id',
        (id) => typeof id === 'string' && !/[/\\\x00-\x1f]/.test(id) && id !== '.' && id !== '..',
      ),
  },
  '2.one-session': {
    expects: 'all events of a turn name the same session',
    judge: (run) => {
      const ids = new Set(objectsOf(run).flatMap(({ session_id }) => (isText(session_id) ? [session_id] : [])))
      return ids.size === 0 ? skip('no session id was seen') : expectThat(ids.size === 1, show([...ids]))
    },
  },
  '2.usage': {
    expects: '`usage` is an object, its token counts are whole numbers',
    judge: (run) =>
      every(
        objectsOf(run).flatMap(({ usage }) => (usage === undefined ? [] : [usage])),
        'usage',
        (usage) => isObject(usage) && COUNTS.every((key) => usage[key] === undefined || isCount(usage[key])),
      ),
  },
  '1.no-wait-for-eof': {
    expects: 'one line is the whole turn: with `permission` the agent answers while stdin is open',
    on: ['permission'],
    judge: ({ lines }) =>
      expectThat(
        lines.some(({ object, step }) => step < 2 && (object?.['type'] === 'result' || object?.['type'] === 'error')),
        'no result before the end of stdin',
      ),
  },
  '4.exits': {
    expects: 'the agent ends by itself after its turn',
    on: [...TURNS, 'malformed', 'nothing'],
    judge: exits,
  },
  '4.exit-zero': {
    expects: 'a turn without an error exits with 0',
    on: TURNS,
    needs: ['4.exits'],
    judge: (run) => (failures(run).length > 0 ? skip('the turn failed') : expectThat(run.exitCode === 0, ending(run))),
  },
  '4.error-exit': {
    expects: 'a turn with an error exits with another code than 0',
    judge: (run) =>
      failures(run).length === 0 ? skip('no error was seen') : expectThat(run.exitCode !== 0, ending(run)),
  },
  '1.malformed': {
    expects: 'a line that is no turn is never a success',
    on: ['malformed'],
    judge: (run) =>
      expectThat(
        saidBy(run, 'result').length === 0 && (failures(run).length > 0 || run.exitCode !== 0),
        `${show(objectsOf(run).at(-1))}; ${ending(run)}`,
      ),
  },
  '1.nothing': {
    expects: 'without a turn there is an `error` event and exit code 1',
    on: ['nothing'],
    lenient: true,
    judge: (run) =>
      expectThat(failures(run).length > 0 && run.exitCode === 1, `${show(objectsOf(run).at(-1))}; ${ending(run)}`),
  },
  '1.unknown-members': {
    expects: 'unknown members of the turn are ignored',
    on: ['more'],
    judge: (run) => none(failures(run)),
  },
  '1.resume': {
    expects: 'a turn with the session id of an earlier one succeeds',
    on: ['resume'],
    judge: (run) => none(failures(run)),
  },
  '1.big-message': {
    expects: 'a message of 200 KB is taken',
    on: ['big'],
    judge: (run) => none(failures(run)),
  },
  '3.request': {
    expects: 'a permission_request has request_id and tool_name (strings) and an object `input`',
    on: ['permission'],
    judge: (run) =>
      every(
        saidBy(run, 'permission_request'),
        'permission_request',
        ({ request_id, tool_name, input }) => isText(request_id) && isText(tool_name) && isObject(input),
      ),
  },
  '3.not-asked': {
    expects: 'without `permission` nothing is asked',
    on: ['turn', 'resume', 'more', 'unicode', 'big'],
    judge: (run) => none(saidBy(run, 'permission_request')),
  },
  '4.sigterm': {
    expects: 'SIGTERM ends the agent within its grace',
    on: ['terminate'],
    judge: exits,
  },
})
