import {
  areUnique,
  every,
  isText,
  type JsonRecord,
  objectLines,
  objectsOf,
  type Player,
  type Reaction,
  reaps,
  rulesForClients,
  type SeenLine,
  saidBy,
  skip,
  waits,
  wordsOf,
  writes,
} from '../../kit/index.ts'
import { SECTIONS } from './sections.ts'

const KNOWN: readonly unknown[] = [
  'hello',
  'prompt',
  'abort',
  'compact',
  'get_state',
  'get_messages',
  'clear',
  'set_model',
  'get_models',
  'ping',
  'ext_response',
]
const isDone = (text: string): boolean => text.includes('"type":"done"')

/** The rules for clients that start `zot rpc`. */
export const clientRules = rulesForClients('zot', SECTIONS, {
  '5.objects': objectLines,
  '3.rpc-mode': {
    expects: 'the program is started as `zot rpc`',
    judge: ({ visits }) => every(visits, 'start', ({ argv }) => argv[0] === 'rpc' || argv[0] === '--rpc'),
  },
  '5.2.command-type': {
    expects: 'every command has a known `type`',
    needs: ['5.objects'],
    judge: (run) => every(saidBy(run), 'command', ({ type }) => KNOWN.includes(type)),
  },
  '5.2.prompt-message': {
    expects: 'a prompt has a string `message`',
    needs: ['5.objects'],
    judge: (run) =>
      every(
        saidBy(run).filter(({ type }) => type === 'prompt'),
        'prompt',
        ({ message }) => isText(message),
      ),
  },
  '5.2.ids': {
    expects: 'an id is a string, and no two commands of a process have the same',
    needs: ['5.objects'],
    judge: ({ visits }) =>
      every(
        visits.map((visit) => commands(wordsOf(visit)).flatMap(({ id }) => (id === undefined ? [] : [id]))),
        'start',
        (ids) => ids.every((id) => typeof id === 'string') && areUnique(ids),
      ),
  },
  '5.3.waits-for-done': {
    expects: 'the client stays until the `done` of its prompt',
    judge: (run) =>
      saidBy(run).some(({ type }) => type === 'prompt') ? waits(run, isDone) : skip('no prompt was sent'),
  },
  '2.reaps': {
    expects: 'the process is ended, by closing its stdin, before the client ends',
    needs: ['5.3.waits-for-done'],
    judge: reaps,
  },
})

const commands = (lines: readonly SeenLine[]): JsonRecord[] => objectsOf({ lines })

/** Plays `zot rpc`: answers every command, and a prompt with two words. */
export function play(): Player {
  return {
    line: ({ object }) => {
      const { type, id } = object ?? {}
      const head = { type: 'response', ...(isText(id) && { id }), command: String(type ?? '') }
      if (!KNOWN.includes(type)) return [writes({ ...head, success: false, error: 'unknown command' })]
      if (type !== 'prompt' && type !== 'compact') {
        return [writes({ ...head, success: true, ...(DATA[String(type)] && { data: DATA[String(type)] }) })]
      }
      const started = writes({ ...head, success: true, data: { started: true } })
      return [started, ...(type === 'prompt' ? answer(String(object?.['message'])) : COMPACTED)]
    },
  }
}

const COUNTS = { input: 1, output: 2, cache_read: 0, cache_write: 0, cost_usd: 0 }
const TIME = '2026-01-01T00:00:00Z'
const MODEL = 'conformance-1'

/** The answers to commands that start nothing. */
const DATA: Readonly<Record<string, JsonRecord>> = {
  hello: { protocol_version: 1, version: '0.1.62', provider: 'conformance', model: MODEL },
  ping: { pong: true },
  get_state: { provider: 'conformance', model: MODEL, cwd: '/', message_count: 0, busy: false, usage: COUNTS },
  get_messages: { messages: [] },
  get_models: {
    models: [{ id: MODEL, provider: 'conformance', context_window: 8192, max_output: 1024, reasoning: false }],
  },
}

const COMPACTED: readonly Reaction[] = [
  writes({ type: 'compact_done', summary: 'Nothing yet.' }),
  writes({ type: 'done' }),
]

function answer(message: string): Reaction[] {
  const text = (value: string): JsonRecord[] => [{ type: 'text', text: value }]
  return [
    writes({ type: 'user_message', content: text(message), time: TIME }),
    writes({ type: 'turn_start', step: 1 }),
    writes({ type: 'assistant_start' }),
    writes({ type: 'text_delta', delta: 'All' }),
    { pause: 200 },
    writes({ type: 'text_delta', delta: ' well.' }),
    writes({ type: 'usage', ...COUNTS, cumulative: COUNTS }),
    writes({ type: 'assistant_message', content: text('All well.'), time: TIME }),
    writes({ type: 'turn_end', stop: 'end_turn' }),
    writes({ type: 'done' }),
  ]
}
