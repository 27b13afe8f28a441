import {
  type AgentRule,
  type AgentRun,
  ending,
  every,
  expectThat,
  isCount,
  isObject,
  isText,
  type JsonRecord,
  lineRules,
  objectsOf,
  show,
  skip,
} from '../../../kit/index.ts'

const TURN = '1 Turn (stdin)'
const EVENTS = '2 Events (stdout)'
const PERMISSION = '3 Permission'
const EXIT = '4 Exit'
const ID = 'agentproc-0.4'

const TURNS = ['turn', 'resume', 'permission', 'more', 'unicode', 'big']
const TYPES: readonly unknown[] = ['partial', 'result', 'error', 'permission_request']
const of = (run: AgentRun, type: string): JsonRecord[] => objectsOf(run).filter((object) => object['type'] === type)
const failures = (run: AgentRun): JsonRecord[] => of(run, 'error').filter(({ message }) => isText(message))
const COUNTS = ['input_tokens', 'output_tokens', 'total_tokens'] as const

const event = (name: string, expects: string, judge: AgentRule['judge'], more: Partial<AgentRule> = {}): AgentRule => ({
  id: `${ID}.2.${name}`,
  section: EVENTS,
  expects,
  on: 'all',
  judge,
  ...more,
})

/** The rules for agents of wire 0.4. */
export const agentRules: readonly AgentRule[] = [
  ...lineRules(ID, EVENTS),
  event('type', 'every event is a partial, result, error or permission_request', (run) =>
    every(objectsOf(run), 'event', ({ type }) => TYPES.includes(type)),
  ),
  event('partial-text', '`partial.text` is a string; its role, if any, output or thinking', (run) =>
    every(
      of(run, 'partial'),
      'partial',
      ({ text, role = 'output' }) => typeof text === 'string' && (role === 'output' || role === 'thinking'),
    ),
  ),
  event('result-text', '`result.text` is a string', (run) =>
    every(of(run, 'result'), 'result', ({ text }) => typeof text === 'string'),
  ),
  event('one-result', 'a turn has one result at most', (run) =>
    expectThat(of(run, 'result').length <= 1, `${of(run, 'result').length} results`),
  ),
  event(
    'ends',
    'a turn ends with a result or an error',
    (run) => expectThat(of(run, 'result').length + of(run, 'error').length > 0, show(objectsOf(run).at(-1))),
    { on: TURNS, lenient: true },
  ),
  event('result-last', 'nothing follows the result', (run) => {
    const all = objectsOf(run)
    const at = all.findIndex(({ type }) => type === 'result')
    const late = all.slice(at + 1).filter(({ type }) => type !== 'result')
    return at < 0 ? skip('no result was seen') : expectThat(late.length === 0, show(late[0]))
  }),
  event('error-message', '`error.message` is a string that is not empty', (run) =>
    every(of(run, 'error'), 'error', ({ message }) => isText(message)),
  ),
  event(
    'error-last',
    'nothing follows an error',
    (run) => {
      const all = objectsOf(run)
      const at = all.findIndex(({ type }) => type === 'error')
      return at < 0 ? skip('no error was seen') : expectThat(at === all.length - 1, show(all[at + 1]))
    },
    { lenient: true },
  ),
  event('session-id', 'a session id holds no path separator and no control character', (run) =>
    every(
      objectsOf(run).flatMap(({ session_id }) => (session_id === undefined ? [] : [session_id])),
      'session id',
      (id) => typeof id === 'string' && !/[/\\\x00-\x1f]/.test(id) && id !== '.' && id !== '..',
    ),
  ),
  event('one-session', 'all events of a turn name the same session', (run) => {
    const ids = new Set(objectsOf(run).flatMap(({ session_id }) => (isText(session_id) ? [session_id] : [])))
    return ids.size === 0 ? skip('no session id was seen') : expectThat(ids.size === 1, show([...ids]))
  }),
  event('usage', '`usage` is an object, its token counts are whole numbers', (run) =>
    every(
      objectsOf(run).flatMap(({ usage }) => (usage === undefined ? [] : [usage])),
      'usage',
      (usage) => isObject(usage) && COUNTS.every((key) => usage[key] === undefined || isCount(usage[key])),
    ),
  ),
  {
    id: `${ID}.1.no-wait-for-eof`,
    section: TURN,
    expects: 'one line is the whole turn: with `permission` the agent answers while stdin is open',
    on: ['permission'],
    judge: ({ lines }) =>
      expectThat(
        lines.some(({ object, step }) => step < 2 && (object?.['type'] === 'result' || object?.['type'] === 'error')),
        'no result before the end of stdin',
      ),
  },
  {
    id: `${ID}.4.exits`,
    section: EXIT,
    expects: 'the agent ends by itself after its turn',
    on: [...TURNS, 'malformed', 'nothing'],
    judge: (run) => expectThat(run.end === 'exited', ending(run)),
  },
  {
    id: `${ID}.4.exit-zero`,
    section: EXIT,
    expects: 'a turn without an error exits with 0',
    on: TURNS,
    needs: [`${ID}.4.exits`],
    judge: (run) => (failures(run).length > 0 ? skip('the turn failed') : expectThat(run.exitCode === 0, ending(run))),
  },
  {
    id: `${ID}.4.error-exit`,
    section: EXIT,
    expects: 'a turn with an error exits with another code than 0',
    on: 'all',
    judge: (run) =>
      failures(run).length === 0 ? skip('no error was seen') : expectThat(run.exitCode !== 0, ending(run)),
  },
  {
    id: `${ID}.1.malformed`,
    section: TURN,
    expects: 'a line that is no turn is never a success',
    on: ['malformed'],
    judge: (run) =>
      expectThat(
        of(run, 'result').length === 0 && (failures(run).length > 0 || run.exitCode !== 0),
        `${show(objectsOf(run).at(-1))}; ${ending(run)}`,
      ),
  },
  {
    id: `${ID}.1.nothing`,
    section: TURN,
    expects: 'without a turn there is an `error` event and exit code 1',
    on: ['nothing'],
    lenient: true,
    judge: (run) =>
      expectThat(failures(run).length > 0 && run.exitCode === 1, `${show(objectsOf(run).at(-1))}; ${ending(run)}`),
  },
  {
    id: `${ID}.1.unknown-members`,
    section: TURN,
    expects: 'unknown members of the turn are ignored',
    on: ['more'],
    judge: (run) => expectThat(failures(run).length === 0, show(failures(run)[0])),
  },
  {
    id: `${ID}.1.resume`,
    section: TURN,
    expects: 'a turn with the session id of an earlier one succeeds',
    on: ['resume'],
    judge: (run) => expectThat(failures(run).length === 0, show(failures(run)[0])),
  },
  {
    id: `${ID}.1.big-message`,
    section: TURN,
    expects: 'a message of 200 KB is taken',
    on: ['big'],
    judge: (run) => expectThat(failures(run).length === 0, show(failures(run)[0])),
  },
  {
    id: `${ID}.3.request`,
    section: PERMISSION,
    expects: 'a permission_request has request_id and tool_name (strings) and an object `input`',
    on: ['permission'],
    judge: (run) =>
      every(
        of(run, 'permission_request'),
        'permission_request',
        ({ request_id, tool_name, input }) => isText(request_id) && isText(tool_name) && isObject(input),
      ),
  },
  {
    id: `${ID}.3.not-asked`,
    section: PERMISSION,
    expects: 'without `permission` nothing is asked',
    on: ['turn', 'resume', 'more', 'unicode', 'big'],
    judge: (run) => expectThat(of(run, 'permission_request').length === 0, show(of(run, 'permission_request')[0])),
  },
  {
    id: `${ID}.4.sigterm`,
    section: EXIT,
    expects: 'SIGTERM ends the agent within its grace',
    on: ['terminate'],
    judge: (run) => expectThat(run.end === 'exited', ending(run)),
  },
]
