import { isEventType } from '../../../../codecs/native/read.ts'
import {
  type AgentRow,
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
  rulesForAgents,
  saidBy,
  show,
} from '../../kit/index.ts'
import { SECTIONS } from './sections.ts'

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

const ofTurns = (run: AgentRun): JsonRecord[] =>
  objectsOf(run).filter(
    // A message of a type that nobody knows may belong to no turn, too.
    ({ type, turn }) => !LINK.includes(type) && (isText(turn) || (isEventType(type) && !EITHER.includes(type))),
  )
const endsOf = (run: AgentRun, turn: string): JsonRecord[] =>
  saidBy(run, 'turn-end').filter((end) => end['turn'] === turn)

/** A row that the turn of a scenario was completed. */
const completes = (scenario: string, expects: string): AgentRow => ({
  expects,
  on: [scenario],
  needs: ['3.one-end'],
  judge: (run) => every(saidBy(run, 'turn-end'), 'turn-end', ({ outcome }) => outcome === 'completed'),
})

/** The rules for agents that speak the native protocol on lines. */
export const agentRules = rulesForAgents('native', SECTIONS, {
  ...lineRules('1'),
  '1.ready-first': {
    expects: 'the first line is `agent-ready`',
    judge: (run) => {
      const [first] = objectsOf(run)
      return expectThat(first?.['type'] === 'agent-ready', show(first))
    },
  },
  '3.turn': {
    expects: 'every event of a turn has the `turn` of its turn-start, character by character',
    on: Object.keys(TURNS),
    judge: (run) => every(ofTurns(run), 'event of a turn', ({ turn }) => TURNS[run.scenario]!.includes(String(turn))),
  },
  '3.one-end': {
    expects: 'a turn ends with exactly one `turn-end`',
    on: ANSWERED,
    needs: ['3.turn'],
    judge: (run) => every(TURNS[run.scenario]!, 'turn', (turn) => endsOf(run, turn).length === 1),
  },
  '3.end-last': {
    expects: 'nothing of a turn follows its `turn-end`',
    on: ANSWERED,
    needs: ['3.one-end'],
    judge: (run) =>
      every(TURNS[run.scenario]!, 'turn', (turn) => {
        const own = ofTurns(run).filter((one) => one['turn'] === turn)
        return own.at(-1)?.['type'] === 'turn-end'
      }),
  },
  '3.outcome': {
    expects: '`turn-end` has a known `outcome`; of a failed turn also a `fault` with code and message',
    on: Object.keys(TURNS),
    judge: (run) =>
      every(saidBy(run, 'turn-end'), 'turn-end', (end) => {
        const { code, message } = objectIn(end, 'fault')
        return OUTCOMES.includes(end['outcome']) && (end['outcome'] !== 'failed' || (isText(code) && isText(message)))
      }),
  },
  '3.delta': {
    expects: '`text-delta` has a string `text`, and the `message` of a `message-start` before it',
    on: ANSWERED,
    judge: (run) =>
      every(saidBy(run, 'text-delta'), 'text-delta', (delta) => {
        const all = objectsOf(run)
        const opened = all.slice(0, all.indexOf(delta)).filter(({ type }) => type === 'message-start')
        return typeof delta['text'] === 'string' && opened.some(({ message }) => message === delta['message'])
      }),
  },
  '3.role': {
    expects: '`message-start` has a `message` and a `role`',
    on: ANSWERED,
    judge: (run) =>
      every(saidBy(run, 'message-start'), 'message-start', ({ message, role }) => isText(message) && isText(role)),
  },
  '3.tool-args': {
    expects: "`tool-call` has the tool's id and name, and its `args` as JSON, not as a string that holds it",
    on: ANSWERED,
    judge: (run) =>
      every(
        saidBy(run, 'tool-call'),
        'tool-call',
        ({ tool, name, args }) => isText(tool) && isText(name) && args !== undefined && typeof args !== 'string',
      ),
  },
  '3.usage': {
    expects: 'counts of `usage` are numbers from 0',
    on: ANSWERED,
    judge: (run) =>
      every(saidBy(run, 'usage'), 'usage', (event) =>
        Object.entries(objectIn(event, 'usage')).every(([key, count]) => key === 'costUsd' || isCount(count)),
      ),
  },
  '2.reply': {
    expects: 'a query is answered with exactly one `command-reply` that has its `exchange`',
    on: ['query'],
    // The gateway answers what the agent does not.
    lenient: true,
    judge: (run) =>
      exactly(
        1,
        saidBy(run, 'command-reply').filter(({ exchange }) => exchange === 'q1'),
        'replies',
      ),
  },
  '1.cancel': {
    expects: 'a turn that is cancelled ends',
    on: ['cancel'],
    needs: ['3.turn'],
    judge: (run) => exactly(1, endsOf(run, 't3'), 'ends'),
  },
  '1.line-separator': completes('separator', 'lines are cut at LF, not at U+2028'),
  '1.unknown-members': completes('unknown', 'a command with members that are not known is read all the same'),
  '2.big-input': completes('big', 'a prompt of 200 KB is read'),
})
