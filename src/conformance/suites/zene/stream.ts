import {
  type AgentRun,
  ending,
  every,
  exitsWithZero,
  expectThat,
  fits,
  isCount,
  isObject,
  isText,
  type JsonRecord,
  lineRules,
  objectIn,
  objectsOf,
  rulesForAgents,
  show,
} from '../../kit/index.ts'
import { SECTIONS } from './sections.ts'

const SENT: Readonly<Record<string, readonly string[]>> = {
  run: ['r1', 'r2'],
  cancel: ['r3'],
  unicode: ['ü-😀'],
  big: ['r7'],
  'in-flight': ['r8'],
}
const RUNS = Object.keys(SENT)
const STATUSES: readonly unknown[] = ['OK', 'ERROR', 'TIMEOUT', 'CANCELED']

const linesOf = (run: AgentRun, id: string): JsonRecord[] =>
  objectsOf(run).filter(({ request_id }) => request_id === id)
const isEnd = ({ type }: JsonRecord): boolean => type !== 'ack' && type !== 'event'
const endsOf = (run: AgentRun): JsonRecord[] => objectsOf(run).filter(isEnd)
/** Of a cancel, which is no run and has no session. */
const isOther = (id: unknown): boolean => id === 'c3'
const ackOf = (run: AgentRun, id: string): JsonRecord | undefined => linesOf(run, id).find(({ type }) => type === 'ack')

/** The rules for hosts in stream mode (`--single-request false`). */
export const streamRules = rulesForAgents('zene.stream', SECTIONS, {
  ...lineRules('2'),
  '4.one-final': {
    expects: 'every run has exactly one end: a `final`, an `error` or a flat answer with its request_id',
    on: RUNS,
    judge: (run) => every([...SENT[run.scenario]!], 'run', (id) => linesOf(run, id).filter(isEnd).length === 1),
  },
  '4.end-last': {
    expects: 'no line of a run follows its end',
    on: RUNS,
    needs: ['4.one-final'],
    judge: (run) =>
      every([...SENT[run.scenario]!], 'run', (id) => linesOf(run, id).findIndex(isEnd) === linesOf(run, id).length - 1),
  },
  '1.accepted-first': {
    expects: 'the first line of a run is its `ack` with status ACCEPTED',
    on: ['run', 'cancel'],
    judge: (run) =>
      every(
        SENT[run.scenario]!.map((id) => linesOf(run, id)[0]),
        'run',
        (first) => first?.['type'] === 'ack' && first['status'] === 'ACCEPTED',
      ),
  },
  '4.final-shape': {
    expects: 'a `final` has status OK, ERROR, TIMEOUT or CANCELED, a text, and an error (object or null)',
    on: RUNS,
    judge: (run) =>
      every(
        endsOf(run).filter(({ type }) => type === 'final'),
        'final',
        ({ status, text, error = null }) =>
          STATUSES.includes(status) && typeof text === 'string' && (error === null || isObject(error)),
      ),
  },
  '4.error-shape': {
    expects: 'an `error` line has `error` with code, message (strings) and retryable (boolean)',
    judge: (run) =>
      every(
        objectsOf(run).filter(({ type }) => type === 'error'),
        'error line',
        (line) => {
          const { code, message, retryable } = objectIn(line, 'error')
          return isText(code) && isText(message) && typeof retryable === 'boolean'
        },
      ),
  },
  '4.session-id': {
    expects: 'the end of a run has the session_id of the request',
    on: RUNS,
    judge: (run) =>
      every(
        endsOf(run),
        'end',
        ({ request_id, session_id }) => isOther(request_id) || session_id === `${request_id}-${run.id}`,
      ),
  },
  '1.event-seq': {
    expects: '`event` lines count `seq` from 1 within their run, and have event_type and payload',
    on: RUNS,
    judge: (run) => {
      const seen = new Map<unknown, number>()
      return every(
        objectsOf(run).filter(({ type }) => type === 'event'),
        'event',
        ({ request_id, seq, event_type, payload }) => {
          const next = (seen.get(request_id) ?? 0) + 1
          seen.set(request_id, next)
          return seq === next && isText(event_type) && isObject(payload)
        },
      )
    },
  },
  '4.usage-counts': {
    expects: 'the counts of usage that are there are whole numbers',
    on: RUNS,
    judge: (run) =>
      every(endsOf(run), 'end', (line) =>
        ['prompt_tokens', 'completion_tokens', 'total_tokens']
          .map((key) => objectIn(line, 'usage')[key])
          .every((count) => count === undefined || isCount(count)),
      ),
  },
  '1.ping': {
    expects: 'a ping is answered by an `ack` with status PONG',
    on: ['ping'],
    judge: (run) => expectThat(ackOf(run, 'p1')?.['status'] === 'PONG', show(linesOf(run, 'p1')[0])),
  },
  '1.cancel': {
    expects: 'a cancel of what runs is answered by an `ack` CANCEL_ACCEPTED, or INVALID_REQUEST when it just ended',
    on: ['cancel'],
    judge: (run) =>
      fits(
        linesOf(run, 'c3')[0],
        (answer) => answer?.['status'] === 'CANCEL_ACCEPTED' || codeOf(answer) === 'INVALID_REQUEST',
      ),
  },
  '1.cancel-nothing': {
    expects: 'a cancel of an unknown request is refused with INVALID_REQUEST',
    on: ['cancel-nothing'],
    judge: (run) => expectThat(codeOf(linesOf(run, 'c4')[0]) === 'INVALID_REQUEST', show(linesOf(run, 'c4')[0])),
  },
  '5.missing-field': {
    expects: 'a run without prompt is refused with INVALID_REQUEST',
    on: ['no-prompt'],
    judge: (run) => {
      const codes = linesOf(run, 'r5').map(codeOf)
      return expectThat(codes.includes('INVALID_REQUEST'), show(linesOf(run, 'r5').at(-1)))
    },
  },
  '5.malformed-line': {
    expects: 'a line that is not JSON is answered with an error, and the stream goes on',
    on: ['malformed'],
    lenient: true,
    judge: (run) =>
      expectThat(
        codeOf(objectsOf(run)[0]) === 'INVALID_REQUEST' && linesOf(run, 'r6').some(isEnd),
        `${show(objectsOf(run)[0])}; ${ending(run)}`,
      ),
  },
  '7.exits-at-end-of-input': {
    expects: 'the process finishes what runs and exits with 0 when stdin ends',
    on: [...RUNS, 'ping'],
    judge: exitsWithZero,
  },
})

/** The error code of a line, in either shape. */
function codeOf(line: JsonRecord | undefined): unknown {
  return line?.['error_code'] ?? objectIn(line, 'error')['code']
}
