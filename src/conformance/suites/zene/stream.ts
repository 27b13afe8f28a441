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
  objectIn,
  objectsOf,
  show,
} from '../../kit/index.ts'

const TRANSPORT = '2 Transport Rules'
const ADVANCED = '1 Design goals'
const RESPONSE = '4 Response Schema'
const VALIDATION = '5 Validation Rules'

const SENT: Readonly<Record<string, readonly string[]>> = {
  run: ['r1', 'r2'],
  cancel: ['r3'],
  unicode: ['ü-😀'],
  big: ['r7'],
  'in-flight': ['r8'],
}
const RUNS = Object.keys(SENT)
const ENDED = 'zene.stream.4.one-final'
const STATUSES: readonly unknown[] = ['OK', 'ERROR', 'TIMEOUT', 'CANCELED']

const linesOf = (run: AgentRun, id: string): JsonRecord[] =>
  objectsOf(run).filter(({ request_id }) => request_id === id)
const isEnd = ({ type }: JsonRecord): boolean => type !== 'ack' && type !== 'event'
const endsOf = (run: AgentRun): JsonRecord[] => objectsOf(run).filter(isEnd)
/** Of a cancel, which is no run and has no session. */
const isOther = (id: unknown): boolean => id === 'c3'
const ackOf = (run: AgentRun, id: string): JsonRecord | undefined => linesOf(run, id).find(({ type }) => type === 'ack')

/** The rules for hosts in stream mode (`--single-request false`). */
export const streamRules: readonly AgentRule[] = [
  ...lineRules('zene.stream', TRANSPORT),
  {
    id: ENDED,
    section: RESPONSE,
    expects: 'every run has exactly one end: a `final`, an `error` or a flat answer with its request_id',
    on: RUNS,
    judge: (run) => every([...SENT[run.scenario]!], 'run', (id) => linesOf(run, id).filter(isEnd).length === 1),
  },
  {
    id: 'zene.stream.4.end-last',
    section: RESPONSE,
    expects: 'no line of a run follows its end',
    on: RUNS,
    needs: [ENDED],
    judge: (run) =>
      every([...SENT[run.scenario]!], 'run', (id) => linesOf(run, id).findIndex(isEnd) === linesOf(run, id).length - 1),
  },
  {
    id: 'zene.stream.1.accepted-first',
    section: ADVANCED,
    expects: 'the first line of a run is its `ack` with status ACCEPTED',
    on: ['run', 'cancel'],
    judge: (run) =>
      every(
        SENT[run.scenario]!.map((id) => linesOf(run, id)[0]),
        'run',
        (first) => first?.['type'] === 'ack' && first['status'] === 'ACCEPTED',
      ),
  },
  {
    id: 'zene.stream.4.final-shape',
    section: RESPONSE,
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
  {
    id: 'zene.stream.4.error-shape',
    section: RESPONSE,
    expects: 'an `error` line has `error` with code, message (strings) and retryable (boolean)',
    on: 'all',
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
  {
    id: 'zene.stream.4.session-id',
    section: RESPONSE,
    expects: 'the end of a run has the session_id of the request',
    on: RUNS,
    judge: (run) =>
      every(
        endsOf(run),
        'end',
        ({ request_id, session_id }) => isOther(request_id) || session_id === `${request_id}-${run.id}`,
      ),
  },
  {
    id: 'zene.stream.1.event-seq',
    section: ADVANCED,
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
  {
    id: 'zene.stream.4.usage-counts',
    section: RESPONSE,
    expects: 'the counts of usage that are there are whole numbers',
    on: RUNS,
    judge: (run) =>
      every(endsOf(run), 'end', (line) =>
        ['prompt_tokens', 'completion_tokens', 'total_tokens']
          .map((key) => objectIn(line, 'usage')[key])
          .every((count) => count === undefined || isCount(count)),
      ),
  },
  {
    id: 'zene.stream.1.ping',
    section: ADVANCED,
    expects: 'a ping is answered by an `ack` with status PONG',
    on: ['ping'],
    judge: (run) => expectThat(ackOf(run, 'p1')?.['status'] === 'PONG', show(linesOf(run, 'p1')[0])),
  },
  {
    id: 'zene.stream.1.cancel',
    section: ADVANCED,
    expects: 'a cancel of what runs is answered by an `ack` CANCEL_ACCEPTED, or INVALID_REQUEST when it just ended',
    on: ['cancel'],
    judge: (run) => {
      const answer = linesOf(run, 'c3')[0]
      return expectThat(answer?.['status'] === 'CANCEL_ACCEPTED' || codeOf(answer) === 'INVALID_REQUEST', show(answer))
    },
  },
  {
    id: 'zene.stream.1.cancel-nothing',
    section: ADVANCED,
    expects: 'a cancel of an unknown request is refused with INVALID_REQUEST',
    on: ['cancel-nothing'],
    judge: (run) => expectThat(codeOf(linesOf(run, 'c4')[0]) === 'INVALID_REQUEST', show(linesOf(run, 'c4')[0])),
  },
  {
    id: 'zene.stream.5.missing-field',
    section: VALIDATION,
    expects: 'a run without prompt is refused with INVALID_REQUEST',
    on: ['no-prompt'],
    judge: (run) => {
      const codes = linesOf(run, 'r5').map(codeOf)
      return expectThat(codes.includes('INVALID_REQUEST'), show(linesOf(run, 'r5').at(-1)))
    },
  },
  {
    id: 'zene.stream.5.malformed-line',
    section: VALIDATION,
    expects: 'a line that is no JSON is answered with an error, and the stream goes on',
    on: ['malformed'],
    lenient: true,
    judge: (run) =>
      expectThat(
        codeOf(objectsOf(run)[0]) === 'INVALID_REQUEST' && linesOf(run, 'r6').some(isEnd),
        `${show(objectsOf(run)[0])}; ${ending(run)}`,
      ),
  },
  {
    id: 'zene.stream.7.exits-at-end-of-input',
    section: '7 Timeouts and Lifecycle',
    expects: 'the process finishes what runs and exits with 0 when stdin ends',
    on: [...RUNS, 'ping'],
    judge: (run) => expectThat(run.end === 'exited' && run.exitCode === 0, ending(run)),
  },
]

/** The error code of a line, in either shape. */
function codeOf(line: JsonRecord | undefined): unknown {
  return line?.['error_code'] ?? objectIn(line, 'error')['code']
}
