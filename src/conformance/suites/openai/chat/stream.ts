import {
  type AgentRow,
  eventsOf,
  every,
  expectThat,
  fits,
  isObject,
  isText,
  ofAnswers,
  onAnswers,
  parsed,
  show,
  skip,
  streamed,
  TOOL,
} from '../../../kit/index.ts'
import { choicesOf, chunksOf, deltasOf, FINISHES, functionOf, isContent, isUsage, piecesOf } from './read.ts'
/** The scenarios with a streamed answer. */
export const STREAMS = ['stream', 'stream-usage', 'stream-tool']

const onStreams = (row: Omit<AgentRow, 'on'>): AgentRow => onAnswers(STREAMS, { needs: ['3.events'], ...row })

/** The rules about streams. */
export const streamRows = {
  '3.events': onAnswers(STREAMS, {
    expects: 'the data of every event is a JSON object, or `[DONE]`',
    judge: (run) => every(eventsOf(run), 'event', ({ data, object }) => object !== undefined || data === '[DONE]'),
  }),
  '3.chunk': onStreams({
    expects: 'every event is a `chat.completion.chunk` with a list of choices',
    judge: (run) =>
      every(
        streamed(run),
        'chunk',
        ({ object, choices }) => object === 'chat.completion.chunk' && Array.isArray(choices),
      ),
  }),
  '3.same-id': onStreams({
    expects: 'all chunks have the same id, time and model',
    judge: (run) => {
      const [first = {}] = chunksOf(run)
      return every(
        chunksOf(run),
        'chunk',
        ({ id, created, model }) =>
          isText(id) && id === first['id'] && created === first['created'] && model === first['model'],
      )
    },
  }),
  '3.role-first': onStreams({
    expects: 'the first delta has the role `assistant`',
    judge: (run) => fits(deltasOf(run)[0], (delta) => delta?.['role'] === 'assistant'),
  }),
  '3.delta': onStreams({
    expects: 'the content of a delta is text or null',
    judge: (run) => every(deltasOf(run), 'delta', ({ content }) => isContent(content)),
  }),
  '3.one-finish': onStreams({
    expects: 'exactly one chunk has a finish reason',
    judge: (run) => {
      const reasons = choicesOf(run).flatMap(({ finish_reason }) => finish_reason ?? [])
      return expectThat(reasons.length === 1 && FINISHES.includes(reasons[0]), show(reasons))
    },
  }),
  '3.finish-last': onStreams({
    expects: 'no choice follows the finish reason',
    needs: ['3.events', '3.one-finish'],
    judge: (run) => fits(choicesOf(run).at(-1), (last) => isText(last?.['finish_reason'])),
  }),
  '3.done': onStreams({
    expects: 'the last event is `[DONE]`, and there is one',
    needs: ['3.events', '3.blank-lines'],
    judge: (run) => {
      const events = eventsOf(run)
      const all = events.filter(({ data }) => data === '[DONE]')
      return expectThat(all.length === 1 && events.at(-1) === all[0], show(events.slice(-2).map(({ data }) => data)))
    },
  }),
  '3.usage': {
    expects: 'with `include_usage` the last chunk has no choices, and the usage; without it no chunk has usage',
    on: ['stream', 'stream-usage'],
    needs: ['3.events'],
    lenient: true,
    judge: ofAnswers((run) => {
      const last = chunksOf(run).at(-1) ?? {}
      if (run.scenario === 'stream') return fits(last, ({ usage }) => !isObject(usage))
      return fits(last, ({ usage, choices }) => isObject(usage) && isUsage(usage) && !(choices as unknown[])[0])
    }),
  },
  '4.stream-start': onAnswers(['stream-tool'], {
    expects: 'in a stream the first piece of a call has its id and its name, and indexes count from 0',
    needs: ['3.events'],
    judge: (run) => {
      const first = [...piecesOf(run)].map((pieces) => pieces?.[0])
      if (first.length === 0 && deltasOf(run).every(({ tool_calls }) => !tool_calls)) return skip('no call was seen')
      return expectThat(
        first.length > 0 && first.every((piece) => isText(piece?.['id']) && functionOf(piece!)['name'] === TOOL.name),
        show(first),
      )
    },
  }),
  '4.stream-arguments': onAnswers(['stream-tool'], {
    expects: 'the pieces of the arguments of a call are a JSON object',
    needs: ['4.stream-start'],
    judge: (run) =>
      every(
        piecesOf(run).map((pieces) => pieces.map((piece) => functionOf(piece)['arguments'] ?? '').join('')),
        'call',
        (text) => isObject(parsed(text)),
      ),
  }),
} as const satisfies Readonly<Record<string, AgentRow>>
