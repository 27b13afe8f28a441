import { COMMANDS } from '../../../../codecs/native/command-schema.ts'
import {
  every,
  isText,
  type JsonRecord,
  objectLines,
  objectsOf,
  type Player,
  type Reaction,
  reaps,
  rulesForClients,
  saidBy,
  skip,
  waits,
  wordsOf,
  writes,
} from '../../kit/index.ts'
import { SECTIONS } from './sections.ts'

const commands = (lines: Parameters<typeof objectsOf>[0]['lines']): JsonRecord[] => objectsOf({ lines })
const isEnd = (text: string): boolean => text.includes('"type":"turn-end"')
const starts = (all: readonly JsonRecord[]): JsonRecord[] => all.filter(({ type }) => type === 'turn-start')

/** The rules for clients that start an agent of the native protocol. */
export const clientRules = rulesForClients('native', SECTIONS, {
  '1.objects': objectLines,
  '2.type': {
    expects: 'every command has a known `type`',
    needs: ['1.objects'],
    judge: (run) => every(saidBy(run), 'command', ({ type }) => Object.hasOwn(COMMANDS, String(type))),
  },
  '2.input': {
    expects: 'a turn-start has its `input`, as one string or as parts, unless it compacts or invokes something',
    needs: ['1.objects'],
    judge: (run) =>
      every(
        starts(saidBy(run)),
        'turn-start',
        ({ input, task, invocation }) =>
          task === 'compact' || invocation !== undefined || isText(input) || (Array.isArray(input) && input.length > 0),
      ),
  },
  '1.ids': {
    expects: 'ids of turns and exchanges are strings, each new on its wire',
    needs: ['1.objects'],
    judge: ({ visits }) =>
      every(
        visits.map((visit) => commands(wordsOf(visit))),
        'start',
        (all) => areNew(all.map(({ exchange }) => exchange)) && areNew(starts(all).map(({ turn }) => turn)),
      ),
  },
  '3.waits-for-end': {
    expects: 'the client stays until the `turn-end` of its turn',
    judge: (run) => (starts(saidBy(run)).length > 0 ? waits(run, isEnd) : skip('no turn was started')),
  },
  '1.reaps': {
    expects: 'the process is ended, by closing its stdin, before the client ends',
    needs: ['3.waits-for-end'],
    judge: reaps,
  },
})

function areNew(ids: readonly unknown[]): boolean {
  const given = ids.filter((id) => id !== undefined)
  return given.every((id) => typeof id === 'string') && new Set(given).size === given.length
}

/** Plays an agent: says two words in every turn, and says nothing about itself. */
export function play(): Player {
  return {
    open: () => [writes({ type: 'agent-ready', model: 'conformance-1' })],
    line: ({ object = {} }) => {
      const { type, exchange, turn } = object
      if (type === 'turn-start') return answer(isText(turn) ? turn : 'conformance-1')
      return isText(exchange) && type === 'query' ? [writes({ type: 'command-reply', exchange, data: {} })] : []
    },
  }
}

function answer(turn: string): Reaction[] {
  const message = 'm1'
  return [
    writes({ type: 'turn-accepted', turn, seq: 1, how: 'new', session: 'conformance' }),
    writes({ type: 'turn-started', turn, seq: 2 }),
    writes({ type: 'message-start', turn, seq: 3, message, role: 'assistant' }),
    writes({ type: 'text-delta', turn, seq: 4, message, text: 'All' }),
    { pause: 200 },
    writes({ type: 'text-delta', turn, seq: 5, message, text: ' well.' }),
    writes({ type: 'message-end', turn, seq: 6, message }),
    writes({ type: 'turn-end', turn, seq: 7, outcome: 'completed', stop: 'end' }),
  ]
}
