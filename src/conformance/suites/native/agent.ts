import { isEventType } from '../../../../codecs/native/read.ts'
import {
  type AgentRule,
  type AgentRun,
  every,
  exactly,
  expectThat,
  isCount,
  isText,
  type JsonRecord,
  lineRules,
  objectIn,
  objectsOf,
  show,
} from '../../kit/index.ts'

const LINES = '1 Lines'
const COMMANDS = '2 Commands'
const EVENTS = '3 Events'

/** The turns that each scenario asks for. */
export const TURNS: Readonly<Record<string, readonly string[]>> = {
  turn: ['t1', 't2'],
  cancel: ['t3'],
  unicode: ['ü-😀-\u2028'],
  separator: ['t4'],
  unknown: ['t5'],
  big: ['t6'],
}
/** The turns that are to be answered. */
const ANSWERED = ['turn', 'unicode', 'separator', 'unknown', 'big']
const OUTCOMES: readonly unknown[] = ['completed', 'failed', 'cancelled']
/** Events that belong to no turn. */
const LINK: readonly unknown[] = ['agent-ready', 'session-bound', 'session-changed', 'command-reply', 'fault']
/** Events that may belong to none. */
const EITHER: readonly unknown[] = ['notice', 'ask', 'ask-settled', 'foreign']

const ENDS = 'native.3.one-end'
const NAMED = 'native.3.turn'

const events = (run: AgentRun, type: string): JsonRecord[] => objectsOf(run).filter((one) => one['type'] === type)
const ofTurns = (run: AgentRun): JsonRecord[] =>
  objectsOf(run).filter(
    // A message of a type that nobody knows may belong to no turn, too.
    ({ type, turn }) => !LINK.includes(type) && (isText(turn) || (isEventType(type) && !EITHER.includes(type))),
  )
const endsOf = (run: AgentRun, turn: string): JsonRecord[] =>
  events(run, 'turn-end').filter((end) => end['turn'] === turn)

/** A rule that the turn of a scenario was completed. */
function completes(name: string, section: string, scenario: string, expects: string): AgentRule {
  return {
    id: `native.${section.split(' ')[0]}.${name}`,
    section,
    expects,
    on: [scenario],
    needs: [ENDS],
    judge: (run) => every(events(run, 'turn-end'), 'turn-end', ({ outcome }) => outcome === 'completed'),
  }
}

/** The rules for agents that speak the native protocol on lines. */
export const agentRules: readonly AgentRule[] = [
  ...lineRules('native', LINES),
  {
    id: 'native.1.ready-first',
    section: LINES,
    expects: 'the first line is `agent-ready`',
    on: 'all',
    judge: (run) => {
      const [first] = objectsOf(run)
      return expectThat(first?.['type'] === 'agent-ready', show(first))
    },
  },
  {
    id: NAMED,
    section: EVENTS,
    expects: 'every event of a turn has the `turn` of its turn-start, character by character',
    on: Object.keys(TURNS),
    judge: (run) => every(ofTurns(run), 'event of a turn', ({ turn }) => TURNS[run.scenario]!.includes(String(turn))),
  },
  {
    id: ENDS,
    section: EVENTS,
    expects: 'a turn ends with exactly one `turn-end`',
    on: ANSWERED,
    needs: [NAMED],
    judge: (run) => every(TURNS[run.scenario]!, 'turn', (turn) => endsOf(run, turn).length === 1),
  },
  {
    id: 'native.3.end-last',
    section: EVENTS,
    expects: 'nothing of a turn follows its `turn-end`',
    on: ANSWERED,
    needs: [ENDS],
    judge: (run) =>
      every(TURNS[run.scenario]!, 'turn', (turn) => {
        const own = ofTurns(run).filter((one) => one['turn'] === turn)
        return own.at(-1)?.['type'] === 'turn-end'
      }),
  },
  {
    id: 'native.3.outcome',
    section: EVENTS,
    expects: '`turn-end` has a known `outcome`; of a failed turn also a `fault` with code and message',
    on: Object.keys(TURNS),
    judge: (run) =>
      every(events(run, 'turn-end'), 'turn-end', (end) => {
        const { code, message } = objectIn(end, 'fault')
        return OUTCOMES.includes(end['outcome']) && (end['outcome'] !== 'failed' || (isText(code) && isText(message)))
      }),
  },
  {
    id: 'native.3.delta',
    section: EVENTS,
    expects: '`text-delta` has a string `text`, and the `message` of a `message-start` before it',
    on: ANSWERED,
    judge: (run) =>
      every(events(run, 'text-delta'), 'text-delta', (delta) => {
        const all = objectsOf(run)
        const opened = all.slice(0, all.indexOf(delta)).filter(({ type }) => type === 'message-start')
        return typeof delta['text'] === 'string' && opened.some(({ message }) => message === delta['message'])
      }),
  },
  {
    id: 'native.3.role',
    section: EVENTS,
    expects: '`message-start` has a `message` and a `role`',
    on: ANSWERED,
    judge: (run) =>
      every(events(run, 'message-start'), 'message-start', ({ message, role }) => isText(message) && isText(role)),
  },
  {
    id: 'native.3.tool-args',
    section: EVENTS,
    expects: "`tool-call` has the tool's id and name, and its `args` as JSON, not as a string that holds it",
    on: ANSWERED,
    judge: (run) =>
      every(
        events(run, 'tool-call'),
        'tool-call',
        ({ tool, name, args }) => isText(tool) && isText(name) && args !== undefined && typeof args !== 'string',
      ),
  },
  {
    id: 'native.3.usage',
    section: EVENTS,
    expects: 'counts of `usage` are numbers from 0',
    on: ANSWERED,
    judge: (run) =>
      every(events(run, 'usage'), 'usage', (event) =>
        Object.entries(objectIn(event, 'usage')).every(([key, count]) => key === 'costUsd' || isCount(count)),
      ),
  },
  {
    id: 'native.2.reply',
    section: COMMANDS,
    expects: 'a query is answered with exactly one `command-reply` that has its `exchange`',
    on: ['query'],
    // The gateway answers what the agent does not.
    lenient: true,
    judge: (run) =>
      exactly(
        1,
        events(run, 'command-reply').filter(({ exchange }) => exchange === 'q1'),
        'replies',
      ),
  },
  {
    id: 'native.1.cancel',
    section: LINES,
    expects: 'a turn that is cancelled ends',
    on: ['cancel'],
    needs: [NAMED],
    judge: (run) => exactly(1, endsOf(run, 't3'), 'ends'),
  },
  completes('line-separator', LINES, 'separator', 'lines are cut at LF, not at U+2028'),
  completes('unknown-members', LINES, 'unknown', 'a command with members that are not known is read all the same'),
  completes('big-input', COMMANDS, 'big', 'a prompt of 200 KB is read'),
]
