import {
  allWords,
  type ClientRule,
  every,
  expectThat,
  isLeaving,
  isText,
  type JsonRecord,
  objectsOf,
  type Player,
  type Reaction,
  reaps,
  type SeenLine,
  skip,
  waits,
  wordsOf,
} from '../../kit/index.ts'

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
const OBJECTS = 'zot.client.5.objects'
const isDone = (text: string): boolean => text.includes('"type":"done"')

/** The rules for clients that start `zot rpc`. */
export const clientRules: readonly ClientRule[] = [
  {
    id: OBJECTS,
    section: '5 Wire format',
    expects: 'every line on stdin is a JSON object, ended by LF',
    judge: (run) => every(allWords(run), 'line', ({ object, ended }) => object !== undefined && ended),
  },
  {
    id: 'zot.client.3.rpc-mode',
    section: '3 Flags',
    expects: 'the program is started as `zot rpc`',
    judge: ({ visits }) => every(visits, 'start', ({ argv }) => argv[0] === 'rpc' || argv[0] === '--rpc'),
  },
  {
    id: 'zot.client.5.2.command-type',
    section: '5.2 Commands',
    expects: 'every command has a known `type`',
    needs: [OBJECTS],
    judge: (run) => every(commands(allWords(run)), 'command', ({ type }) => KNOWN.includes(type)),
  },
  {
    id: 'zot.client.5.2.prompt-message',
    section: '5.2 Commands',
    expects: 'a prompt has a string `message`',
    needs: [OBJECTS],
    judge: (run) =>
      every(
        commands(allWords(run)).filter(({ type }) => type === 'prompt'),
        'prompt',
        ({ message }) => isText(message),
      ),
  },
  {
    id: 'zot.client.5.2.ids',
    section: '5.2 Commands',
    expects: 'an id is a string, and no two commands of a process have the same',
    needs: [OBJECTS],
    judge: ({ visits }) =>
      every(
        visits.map((visit) => commands(wordsOf(visit)).flatMap(({ id }) => (id === undefined ? [] : [id]))),
        'start',
        (ids) => ids.every((id) => typeof id === 'string') && new Set(ids).size === ids.length,
      ),
  },
  {
    id: 'zot.client.5.3.waits-for-done',
    section: '5.3 Events',
    expects: 'the client stays until the `done` of its prompt',
    judge: (run) =>
      commands(allWords(run)).some(({ type }) => type === 'prompt')
        ? waits(run, isDone, isLeaving)
        : skip('no prompt was sent'),
  },
  {
    id: 'zot.client.2.reaps',
    section: '2 Process model',
    expects: 'the process is ended, by closing its stdin, before the client ends',
    needs: ['zot.client.5.3.waits-for-done'],
    judge: (run) => reaps(run) ?? expectThat(run.end === 'exited', 'the client did not end by itself'),
  },
]

const commands = (lines: readonly SeenLine[]): JsonRecord[] => objectsOf({ lines })

/** Plays `zot rpc`: answers every command, and a prompt with two words. */
export function play(): Player {
  return {
    line: ({ object }) => {
      const { type, id } = object ?? {}
      const head = { type: 'response', ...(isText(id) && { id }), command: String(type ?? '') }
      if (!KNOWN.includes(type)) return [say({ ...head, success: false, error: 'unknown command' })]
      if (type !== 'prompt' && type !== 'compact') {
        return [say({ ...head, success: true, ...(DATA[String(type)] && { data: DATA[String(type)] }) })]
      }
      const started = say({ ...head, success: true, data: { started: true } })
      return [started, ...(type === 'prompt' ? answer(String(object?.['message'])) : COMPACTED)]
    },
  }
}

const say = (frame: JsonRecord): Reaction => ({ write: `${JSON.stringify(frame)}\n` })
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

const COMPACTED: readonly Reaction[] = [say({ type: 'compact_done', summary: 'Nothing yet.' }), say({ type: 'done' })]

function answer(message: string): Reaction[] {
  const text = (value: string): JsonRecord[] => [{ type: 'text', text: value }]
  return [
    say({ type: 'user_message', content: text(message), time: TIME }),
    say({ type: 'turn_start', step: 1 }),
    say({ type: 'assistant_start' }),
    say({ type: 'text_delta', delta: 'All' }),
    { pause: 200 },
    say({ type: 'text_delta', delta: ' well.' }),
    say({ type: 'usage', ...COUNTS, cumulative: COUNTS }),
    say({ type: 'assistant_message', content: text('All well.'), time: TIME }),
    say({ type: 'turn_end', stop: 'end_turn' }),
    say({ type: 'done' }),
  ]
}
