import {
  type AgentRule,
  type AgentRun,
  ending,
  exactly,
  expectThat,
  isCount,
  isObject,
  isText,
  type JsonRecord,
  lineRules,
  objectIn,
  objectsOf,
  show,
  skip,
} from '../../kit/index.ts'

const TRANSPORT = '2 Transport Rules'
const RESPONSE = '4 Response Schema'
const VALIDATION = '5 Validation Rules'
const CODES = '6 Error Code Set'
const LIFECYCLE = '7 Timeouts and Lifecycle'
const EXIT = '8 Exit Code Semantics'

const RUNS = ['run', 'minimum', 'unicode', 'big']
const IDS: Readonly<Record<string, string>> = { run: 'r1', minimum: 'r2', unicode: 'ü-😀-"\u2028"', big: 'r5' }
const KNOWN: readonly unknown[] = [
  'INVALID_REQUEST',
  'TIMEOUT',
  'PROVIDER_AUTH',
  'PROVIDER_RATE_LIMIT',
  'PROVIDER_DOWN',
  'INTERNAL',
  'BUSY',
  'CANCELED',
]

/** An answer in either shape: flat, or `final` and `error` of the program without --bridge-compat. */
interface Answer {
  ok: boolean | undefined
  text: unknown
  code: unknown
  message: unknown
  usage: unknown
  raw: JsonRecord
}

function answerOf(raw: JsonRecord): Answer {
  const { text, usage, status } = raw
  const error = objectIn(raw, 'error')
  if ('ok' in raw || !('type' in raw)) {
    const { ok, error_code: code, error_message: message } = raw
    return { ok: typeof ok === 'boolean' ? ok : undefined, text, code, message, usage, raw }
  }
  // The real program says only by the status that a run was cancelled: its error is null.
  const codeOf = error['code'] ?? (status === 'CANCELED' ? status : null)
  return { ok: status === 'OK', text: text ?? '', code: codeOf, message: error['message'] ?? null, usage, raw }
}

const answers = (run: AgentRun): Answer[] =>
  objectsOf(run)
    .filter(({ type }) => type !== 'ack' && type !== 'event')
    .map(answerOf)
const ONE = 'zene.4.one-answer'

/** Judges the one answer of a run. */
const answer =
  (holds: (one: Answer, run: AgentRun) => boolean): AgentRule['judge'] =>
  (run) => {
    const one = answers(run)[0]
    return one === undefined ? skip('there was no answer') : expectThat(holds(one, run), show(one.raw))
  }

/** Refused: by an answer with INVALID_REQUEST, or by exit code 2 without one. */
function refused(run: AgentRun): boolean {
  const one = answers(run)[0]
  return one === undefined
    ? run.end === 'exited' && run.exitCode === 2
    : one.ok === false && one.code === 'INVALID_REQUEST'
}

const refuses = (scenario: string, name: string, expects: string): AgentRule => ({
  id: `zene.5.${name}`,
  section: VALIDATION,
  expects: `${expects} is refused: error_code INVALID_REQUEST, or exit code 2 without an answer`,
  on: [scenario],
  judge: (run) => expectThat(refused(run), `${show(answers(run)[0]?.raw)}; ${ending(run)}`),
})

/** The rules for one-shot hosts. */
export const oneShotRules: readonly AgentRule[] = [
  ...lineRules('zene', TRANSPORT),
  {
    id: ONE,
    section: RESPONSE,
    expects: 'a request has exactly one answer, one JSON object',
    on: RUNS,
    judge: (run) => exactly(1, answers(run), 'answers'),
  },
  {
    id: 'zene.2.line-is-request',
    section: TRANSPORT,
    expects: 'a request is answered when its line has ended, while stdin is still open',
    on: ['run'],
    lenient: true,
    judge: ({ lines }) =>
      expectThat(
        lines.some(({ step }) => step < 2),
        'no answer before the end of stdin',
      ),
  },
  {
    id: 'zene.4.fields',
    section: RESPONSE,
    expects: 'an answer has ok (boolean), text (string), error_code and error_message (string or null), usage (object)',
    on: RUNS,
    judge: answer(({ ok, text, code, message, usage }) => {
      const isNullable = (value: unknown): boolean => value === null || typeof value === 'string'
      return ok !== undefined && typeof text === 'string' && isNullable(code) && isNullable(message) && isObject(usage)
    }),
  },
  {
    id: 'zene.4.request-id',
    section: RESPONSE,
    expects: 'request_id is the one of the request',
    on: RUNS,
    judge: answer(({ raw }, { scenario }) => raw['request_id'] === IDS[scenario]),
  },
  {
    id: 'zene.4.session-id',
    section: RESPONSE,
    expects: 'session_id is the one of the request',
    on: RUNS,
    judge: answer(({ raw }, { scenario, id }) => raw['session_id'] === `${IDS[scenario]}-${id}`),
  },
  {
    id: 'zene.4.success',
    section: RESPONSE,
    expects: 'an answer with ok true has a text that is not blank, and no error_code or error_message',
    on: RUNS,
    needs: ['zene.4.fields'],
    judge: answer(
      ({ ok, text, code, message }) =>
        ok === false || (isText(String(text).trim()) && code === null && message === null),
    ),
  },
  {
    id: 'zene.4.failure',
    section: RESPONSE,
    expects: 'an answer with ok false has an error_code and an error_message; one of a cancelled run needs no message',
    on: [...RUNS, 'no-json', 'no-prompt', 'blank-session', 'terminate'],
    needs: ['zene.4.fields'],
    judge: answer(({ ok, code, message }) => ok === true || (isText(code) && isText(message)) || code === 'CANCELED'),
  },
  {
    id: 'zene.6.error-code',
    section: CODES,
    expects: `error_code is one of ${KNOWN.join(', ')}`,
    on: [...RUNS, 'no-json', 'no-prompt', 'blank-session', 'terminate'],
    needs: ['zene.4.fields', 'zene.4.failure'],
    judge: answer(({ ok, code }) => ok === true || KNOWN.includes(code)),
  },
  {
    id: 'zene.4.usage-counts',
    section: RESPONSE,
    expects: 'the counts of usage that are there are whole numbers',
    on: RUNS,
    needs: ['zene.4.fields'],
    judge: answer(({ raw }) =>
      ['prompt_tokens', 'completion_tokens', 'total_tokens']
        .map((key) => objectIn(raw, 'usage')[key])
        .every((count) => count === undefined || isCount(count)),
    ),
  },
  {
    id: 'zene.4.usage-counted',
    section: RESPONSE,
    expects: 'a success counts at least one token in usage.total_tokens: the bridge refuses it otherwise',
    on: RUNS,
    needs: ['zene.4.usage-counts'],
    lenient: true,
    judge: answer(({ ok, raw }) => ok !== true || Number(objectIn(raw, 'usage')['total_tokens']) >= 1),
  },
  refuses('no-json', 'no-json', 'a line that is no JSON'),
  refuses('no-prompt', 'missing-field', 'a request without prompt'),
  refuses('blank-session', 'blank-field', 'a request with a blank session_id'),
  {
    id: 'zene.3.optional-fields',
    section: '3 Request Schema',
    expects: 'request_id, session_id and prompt alone make a request, and unknown fields are ignored',
    on: ['run', 'minimum'],
    needs: [ONE],
    judge: answer(({ code }) => code !== 'INVALID_REQUEST'),
  },
  {
    id: 'zene.2.line-separator',
    section: TRANSPORT,
    expects: 'a line ends at LF only: U+2028 inside a string is text',
    on: ['raw-line-separator'],
    judge: (run) => expectThat(answers(run)[0]?.raw['request_id'] === 'r4', show(answers(run)[0]?.raw)),
  },
  {
    id: 'zene.3.big-prompt',
    section: '3 Request Schema',
    expects: 'a prompt of 200 KB is answered',
    on: ['big'],
    needs: [ONE],
    judge: answer(({ code }) => code !== 'INVALID_REQUEST'),
  },
  {
    id: 'zene.7.exits',
    section: LIFECYCLE,
    expects: 'the process ends by itself: after its answer, and also when no request comes',
    on: [...RUNS, 'no-json', 'no-prompt', 'blank-session', 'nothing'],
    judge: (run) => expectThat(run.end === 'exited', ending(run)),
  },
  {
    id: 'zene.8.exit-zero',
    section: EXIT,
    expects: 'the exit code is 0 when a request was answered, business errors included',
    on: RUNS,
    needs: [ONE, 'zene.7.exits'],
    judge: (run) => expectThat(run.exitCode === 0, ending(run)),
  },
  {
    id: 'zene.5.no-crash',
    section: VALIDATION,
    expects: 'bad input ends in exit code 0, 2, 3 or 4, never in a crash',
    on: ['no-json', 'no-prompt', 'blank-session', 'nothing'],
    needs: ['zene.7.exits'],
    judge: (run) => expectThat(/^[0234]$/.test(String(run.exitCode)), ending(run)),
  },
  {
    id: 'zene.7.sigterm',
    section: LIFECYCLE,
    expects: 'SIGTERM ends the process within its grace',
    on: ['terminate'],
    judge: (run) => expectThat(run.end === 'exited', ending(run)),
  },
]
