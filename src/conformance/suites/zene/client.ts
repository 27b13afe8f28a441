import {
  allWords,
  type ClientRule,
  type ClientRun,
  every,
  expectThat,
  isCount,
  isLeaving,
  isText,
  type JsonRecord,
  objectsOf,
  type Player,
  type PlayerContext,
  type Reaction,
  reaps,
  waits,
  wordsOf,
} from '../../kit/index.ts'

const REQUEST = '3 Request Schema'
const OBJECTS = 'zene.client.2.objects'
const TYPES: readonly unknown[] = ['run', 'ping', 'cancel', 'session_close']

const requests = (run: ClientRun): JsonRecord[] => objectsOf({ lines: allWords(run) })
const runs = (run: ClientRun): JsonRecord[] => requests(run).filter(({ type = 'run' }) => type === 'run')
/** A host that does not stay for another request. */
const isOneShot = (argv: readonly string[]): boolean => !/--single-request[ =]false/.test(argv.join(' '))

/** The rules for clients that start `zene host`. */
export const clientRules: readonly ClientRule[] = [
  {
    id: OBJECTS,
    section: '2 Transport Rules',
    expects: 'every line on stdin is a JSON object, ended by LF',
    judge: (run) => every(allWords(run), 'line', ({ object, ended }) => object !== undefined && ended),
  },
  {
    id: 'zene.client.2.one-request',
    section: '2 Transport Rules',
    expects: 'a one-shot host gets exactly one request',
    judge: ({ visits }) =>
      every(
        visits.filter(({ argv }) => isOneShot(argv) && argv[0] !== 'self-test'),
        'one-shot start',
        (visit) => wordsOf(visit).length === 1,
      ),
  },
  {
    id: 'zene.client.3.type',
    section: REQUEST,
    expects: 'type, when it is there, is run, ping, cancel or session_close',
    needs: [OBJECTS],
    judge: (run) => every(requests(run), 'request', ({ type = 'run' }) => TYPES.includes(type)),
  },
  {
    id: 'zene.client.3.required',
    section: REQUEST,
    expects: 'a run has request_id, session_id and prompt, strings that are not blank',
    needs: [OBJECTS],
    judge: (run) =>
      every(runs(run), 'run', ({ request_id, session_id, prompt }) =>
        [request_id, session_id, prompt].every((value) => isText(value) && value.trim() !== ''),
      ),
  },
  {
    id: 'zene.client.3.version',
    section: REQUEST,
    expects: 'protocol_version, when it is there, is the number 1',
    needs: [OBJECTS],
    judge: (run) => every(requests(run), 'request', ({ protocol_version = 1 }) => protocol_version === 1),
  },
  {
    id: 'zene.client.3.timeout',
    section: REQUEST,
    expects: 'timeout_ms, when it is there, is a whole number',
    needs: [OBJECTS],
    judge: (run) => every(runs(run), 'run', ({ timeout_ms = null }) => timeout_ms === null || isCount(timeout_ms)),
  },
  {
    id: 'zene.client.3.ids',
    section: REQUEST,
    expects: 'no two requests have the same request_id',
    needs: [OBJECTS],
    judge: (run) => {
      const ids = requests(run).map(({ request_id }) => request_id)
      return expectThat(new Set(ids).size === ids.length, JSON.stringify(ids))
    },
  },
  {
    id: 'zene.client.7.waits',
    section: '7 Timeouts and Lifecycle',
    expects: 'the client waits for the answer',
    judge: (run) => waits(run, (text) => /"ok":|"type":"(?:final|error)"|"PONG"/.test(text), isLeaving),
  },
  {
    id: 'zene.client.7.reaps',
    section: '7 Timeouts and Lifecycle',
    expects: 'the host has exited before the client ends',
    needs: ['zene.client.7.waits'],
    judge: (run) => reaps(run) ?? expectThat(run.end === 'exited', 'the client did not end by itself'),
  },
]

const say = (frame: JsonRecord): Reaction => ({ write: `${JSON.stringify(frame)}\n` })
const USAGE = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
const LEAVE: readonly Reaction[] = [{ pause: 100 }, { exit: 0 }]

/** Plays `zene host`: one flat answer, or with `--single-request false` lines for every request. */
export function play({ argv }: PlayerContext): Player {
  return {
    line: ({ object }) => {
      const { type = 'run', request_id = 'unknown', session_id = '' } = object ?? {}
      const ids = { request_id, session_id }
      if (isOneShot(argv)) return [{ pause: 200 }, say(flat(ids, object)), ...LEAVE]
      const ack = (status: string): Reaction => say({ type: 'ack', protocol_version: 1, ...ids, ts_ms: 0, status })
      if (type === 'ping') return [ack('PONG')]
      if (type !== 'run') return [ack(type === 'cancel' ? 'CANCEL_ACCEPTED' : 'SESSION_CLOSED')]
      return [ack('ACCEPTED'), { pause: 200 }, say({ type: 'final', protocol_version: 1, ...ids, ...FINAL })]
    },
  }
}

const FINAL = { ts_ms: 0, status: 'OK', text: 'All well.', usage: USAGE, error: null, latency_ms: 1 }

function flat(ids: JsonRecord, request: JsonRecord | undefined): JsonRecord {
  const isGood = isText(request?.['prompt'])
  const error = { error_code: 'INVALID_REQUEST', error_message: 'prompt is required' }
  return isGood
    ? { ok: true, ...ids, text: 'All well.', error_code: null, error_message: null, usage: USAGE }
    : { ok: false, ...ids, text: '', ...error, usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } }
}
