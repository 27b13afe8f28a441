import { COMMANDS } from '../../../../codecs/native/command-schema.ts'
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
  skip,
  waits,
  wordsOf,
} from '../../kit/index.ts'

const LINES = '1 Lines'
const OBJECTS = 'native.client.1.objects'
const WAITS = 'native.client.3.waits-for-end'

const commands = (lines: Parameters<typeof objectsOf>[0]['lines']): JsonRecord[] => objectsOf({ lines })
const isEnd = (text: string): boolean => text.includes('"type":"turn-end"')
const starts = (all: readonly JsonRecord[]): JsonRecord[] => all.filter(({ type }) => type === 'turn-start')

/** The rules for clients that start an agent of the native protocol. */
export const clientRules: readonly ClientRule[] = [
  {
    id: OBJECTS,
    section: LINES,
    expects: 'every line on stdin is a JSON object, ended by LF',
    judge: (run) => every(allWords(run), 'line', ({ object, ended }) => object !== undefined && ended),
  },
  {
    id: 'native.client.2.type',
    section: '2 Commands',
    expects: 'every command has a known `type`',
    needs: [OBJECTS],
    judge: (run) => every(commands(allWords(run)), 'command', ({ type }) => Object.hasOwn(COMMANDS, String(type))),
  },
  {
    id: 'native.client.2.input',
    section: '2 Commands',
    expects: 'a turn-start has its `input`, as one string or as parts, unless it compacts or invokes something',
    needs: [OBJECTS],
    judge: (run) =>
      every(
        starts(commands(allWords(run))),
        'turn-start',
        ({ input, task, invocation }) =>
          task === 'compact' || invocation !== undefined || isText(input) || (Array.isArray(input) && input.length > 0),
      ),
  },
  {
    id: 'native.client.1.ids',
    section: LINES,
    expects: 'ids of turns and exchanges are strings, each new on its wire',
    needs: [OBJECTS],
    judge: ({ visits }) =>
      every(
        visits.map((visit) => commands(wordsOf(visit))),
        'start',
        (all) => areNew(all.map(({ exchange }) => exchange)) && areNew(starts(all).map(({ turn }) => turn)),
      ),
  },
  {
    id: WAITS,
    section: '3 Events',
    expects: 'the client stays until the `turn-end` of its turn',
    judge: (run) =>
      starts(commands(allWords(run))).length > 0 ? waits(run, isEnd, isLeaving) : skip('no turn was started'),
  },
  {
    id: 'native.client.1.reaps',
    section: LINES,
    expects: 'the process is ended, by closing its stdin, before the client ends',
    needs: [WAITS],
    judge: (run) => reaps(run) ?? expectThat(run.end === 'exited', 'the client did not end by itself'),
  },
]

function areNew(ids: readonly unknown[]): boolean {
  const given = ids.filter((id) => id !== undefined)
  return given.every((id) => typeof id === 'string') && new Set(given).size === given.length
}

const say = (event: JsonRecord): Reaction => ({ write: `${JSON.stringify(event)}\n` })

/** Plays an agent: says two words in every turn, and has nothing to tell of itself. */
export function play(): Player {
  return {
    open: () => [say({ type: 'agent-ready', model: 'conformance-1' })],
    line: ({ object = {} }) => {
      const { type, exchange, turn } = object
      if (type === 'turn-start') return answer(isText(turn) ? turn : 'conformance-1')
      return isText(exchange) && type === 'query' ? [say({ type: 'command-reply', exchange, data: {} })] : []
    },
  }
}

function answer(turn: string): Reaction[] {
  const message = 'm1'
  return [
    say({ type: 'turn-accepted', turn, seq: 1, how: 'new', session: 'conformance' }),
    say({ type: 'turn-started', turn, seq: 2 }),
    say({ type: 'message-start', turn, seq: 3, message, role: 'assistant' }),
    say({ type: 'text-delta', turn, seq: 4, message, text: 'All' }),
    { pause: 200 },
    say({ type: 'text-delta', turn, seq: 5, message, text: ' well.' }),
    say({ type: 'message-end', turn, seq: 6, message }),
    say({ type: 'turn-end', turn, seq: 7, outcome: 'completed', stop: 'end' }),
  ]
}
