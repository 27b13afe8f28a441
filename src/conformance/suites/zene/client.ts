import {
  areUnique,
  type ClientRun,
  every,
  expectThat,
  isCount,
  isText,
  type JsonRecord,
  objectLines,
  type Player,
  type PlayerContext,
  type Reaction,
  reaps,
  rulesForClients,
  saidBy,
  waits,
  wordsOf,
  writes,
} from '../../kit/index.ts'
import { SECTIONS } from './sections.ts'

const TYPES: readonly unknown[] = ['run', 'ping', 'cancel', 'session_close']

const runs = (run: ClientRun): JsonRecord[] => saidBy(run).filter(({ type = 'run' }) => type === 'run')
/** A host that does not stay for another request. */
const isOneShot = (argv: readonly string[]): boolean => !/--single-request[ =]false/.test(argv.join(' '))

/** The rules for clients that start `zene host`. */
export const clientRules = rulesForClients('zene', SECTIONS, {
  '2.objects': objectLines,
  '2.one-request': {
    expects: 'a one-shot host gets exactly one request',
    judge: ({ visits }) =>
      every(
        visits.filter(({ argv }) => isOneShot(argv) && argv[0] !== 'self-test'),
        'one-shot start',
        (visit) => wordsOf(visit).length === 1,
      ),
  },
  '3.type': {
    expects: 'type, when it is there, is run, ping, cancel or session_close',
    needs: ['2.objects'],
    judge: (run) => every(saidBy(run), 'request', ({ type = 'run' }) => TYPES.includes(type)),
  },
  '3.required': {
    expects: 'a run has request_id, session_id and prompt, strings that are not blank',
    needs: ['2.objects'],
    judge: (run) =>
      every(runs(run), 'run', ({ request_id, session_id, prompt }) =>
        [request_id, session_id, prompt].every((value) => isText(value) && value.trim() !== ''),
      ),
  },
  '3.version': {
    expects: 'protocol_version, when it is there, is the number 1',
    needs: ['2.objects'],
    judge: (run) => every(saidBy(run), 'request', ({ protocol_version = 1 }) => protocol_version === 1),
  },
  '3.timeout': {
    expects: 'timeout_ms, when it is there, is a whole number',
    needs: ['2.objects'],
    judge: (run) => every(runs(run), 'run', ({ timeout_ms = null }) => timeout_ms === null || isCount(timeout_ms)),
  },
  '3.ids': {
    expects: 'no two requests have the same request_id',
    needs: ['2.objects'],
    judge: (run) => {
      const ids = saidBy(run).map(({ request_id }) => request_id)
      return expectThat(areUnique(ids), JSON.stringify(ids))
    },
  },
  '7.waits': {
    expects: 'the client waits for the answer',
    judge: (run) => waits(run, (text) => /"ok":|"type":"(?:final|error)"|"PONG"/.test(text)),
  },
  '7.reaps': {
    expects: 'the host has exited before the client ends',
    needs: ['7.waits'],
    judge: reaps,
  },
})

const USAGE = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
const LEAVE: readonly Reaction[] = [{ pause: 100 }, { exit: 0 }]

/** Plays `zene host`: one flat answer, or with `--single-request false` lines for every request. */
export function play({ argv }: PlayerContext): Player {
  return {
    line: ({ object }) => {
      const { type = 'run', request_id = 'unknown', session_id = '' } = object ?? {}
      const ids = { request_id, session_id }
      if (isOneShot(argv)) return [{ pause: 200 }, writes(flat(ids, object)), ...LEAVE]
      const ack = (status: string): Reaction => writes({ type: 'ack', protocol_version: 1, ...ids, ts_ms: 0, status })
      if (type === 'ping') return [ack('PONG')]
      if (type !== 'run') return [ack(type === 'cancel' ? 'CANCEL_ACCEPTED' : 'SESSION_CLOSED')]
      return [ack('ACCEPTED'), { pause: 200 }, writes({ type: 'final', protocol_version: 1, ...ids, ...FINAL })]
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
