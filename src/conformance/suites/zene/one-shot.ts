import {
  type AgentRow,
  type AgentRule,
  type AgentRun,
  ending,
  exactly,
  exits,
  expectThat,
  isCount,
  isObject,
  isText,
  type JsonRecord,
  lineRules,
  objectIn,
  objectsOf,
  rulesForAgents,
  show,
  skip,
} from '../../kit/index.ts'
import { SECTIONS } from './sections.ts'

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

const refuses = (scenario: string, what: string): AgentRow => ({
  expects: `${what} is refused: error_code INVALID_REQUEST, or exit code 2 without an answer`,
  on: [scenario],
  judge: (run) => expectThat(refused(run), `${show(answers(run)[0]?.raw)}; ${ending(run)}`),
})

/** The rules for one-shot hosts. */
export const oneShotRules = rulesForAgents('zene', SECTIONS, {
  ...lineRules('2'),
  '4.one-answer': {
    expects: 'a request has exactly one answer, one JSON object',
    on: RUNS,
    judge: (run) => exactly(1, answers(run), 'answers'),
  },
  '2.line-is-request': {
    expects: 'a request is answered when its line has ended, while stdin is still open',
    on: ['run'],
    lenient: true,
    judge: ({ lines }) =>
      expectThat(
        lines.some(({ step }) => step < 2),
        'no answer before the end of stdin',
      ),
  },
  '4.fields': {
    expects: 'an answer has ok (boolean), text (string), error_code and error_message (string or null), usage (object)',
    on: RUNS,
    judge: answer(({ ok, text, code, message, usage }) => {
      const isNullable = (value: unknown): boolean => value === null || typeof value === 'string'
      return ok !== undefined && typeof text === 'string' && isNullable(code) && isNullable(message) && isObject(usage)
    }),
  },
  '4.request-id': {
    expects: 'request_id is the one of the request',
    on: RUNS,
    judge: answer(({ raw }, { scenario }) => raw['request_id'] === IDS[scenario]),
  },
  '4.session-id': {
    expects: 'session_id is the one of the request',
    on: RUNS,
    judge: answer(({ raw }, { scenario, id }) => raw['session_id'] === `${IDS[scenario]}-${id}`),
  },
  '4.success': {
    expects: 'an answer with ok true has a text that is not blank, and no error_code or error_message',
    on: RUNS,
    needs: ['4.fields'],
    judge: answer(
      ({ ok, text, code, message }) =>
        ok === false || (isText(String(text).trim()) && code === null && message === null),
    ),
  },
  '4.failure': {
    expects: 'an answer with ok false has an error_code and an error_message; one of a cancelled run needs no message',
    on: [...RUNS, 'no-json', 'no-prompt', 'blank-session', 'terminate'],
    needs: ['4.fields'],
    judge: answer(({ ok, code, message }) => ok === true || (isText(code) && isText(message)) || code === 'CANCELED'),
  },
  '6.error-code': {
    expects: `error_code is one of ${KNOWN.join(', ')}`,
    on: [...RUNS, 'no-json', 'no-prompt', 'blank-session', 'terminate'],
    needs: ['4.fields', '4.failure'],
    judge: answer(({ ok, code }) => ok === true || KNOWN.includes(code)),
  },
  '4.usage-counts': {
    expects: 'the counts of usage that are there are whole numbers',
    on: RUNS,
    needs: ['4.fields'],
    judge: answer(({ raw }) =>
      ['prompt_tokens', 'completion_tokens', 'total_tokens']
        .map((key) => objectIn(raw, 'usage')[key])
        .every((count) => count === undefined || isCount(count)),
    ),
  },
  '4.usage-counted': {
    expects: 'a success counts at least one token in usage.total_tokens: the bridge refuses it otherwise',
    on: RUNS,
    needs: ['4.usage-counts'],
    lenient: true,
    judge: answer(({ ok, raw }) => ok !== true || Number(objectIn(raw, 'usage')['total_tokens']) >= 1),
  },
  '5.no-json': refuses('no-json', 'a line that is no JSON'),
  '5.missing-field': refuses('no-prompt', 'a request without prompt'),
  '5.blank-field': refuses('blank-session', 'a request with a blank session_id'),
  '3.optional-fields': {
    expects: 'request_id, session_id and prompt alone make a request, and unknown fields are ignored',
    on: ['run', 'minimum'],
    needs: ['4.one-answer'],
    judge: answer(({ code }) => code !== 'INVALID_REQUEST'),
  },
  '2.line-separator': {
    expects: 'a line ends at LF only: U+2028 inside a string is text',
    on: ['raw-line-separator'],
    judge: (run) => expectThat(answers(run)[0]?.raw['request_id'] === 'r4', show(answers(run)[0]?.raw)),
  },
  '3.big-prompt': {
    expects: 'a prompt of 200 KB is answered',
    on: ['big'],
    needs: ['4.one-answer'],
    judge: answer(({ code }) => code !== 'INVALID_REQUEST'),
  },
  '7.exits': {
    expects: 'the process ends by itself: after its answer, and also when no request comes',
    on: [...RUNS, 'no-json', 'no-prompt', 'blank-session', 'nothing'],
    judge: exits,
  },
  '8.exit-zero': {
    expects: 'the exit code is 0 when a request was answered, business errors included',
    on: RUNS,
    needs: ['4.one-answer', '7.exits'],
    judge: (run) => expectThat(run.exitCode === 0, ending(run)),
  },
  '5.no-crash': {
    expects: 'bad input ends in exit code 0, 2, 3 or 4, never in a crash',
    on: ['no-json', 'no-prompt', 'blank-session', 'nothing'],
    needs: ['7.exits'],
    judge: (run) => expectThat(/^[0234]$/.test(String(run.exitCode)), ending(run)),
  },
  '7.sigterm': {
    expects: 'SIGTERM ends the process within its grace',
    on: ['terminate'],
    judge: exits,
  },
})
