import {
  type AgentRow,
  type AgentRun,
  eventsOf,
  every,
  expectThat,
  fits,
  isCount,
  isObject,
  isText,
  type JsonRecord,
  objectIn,
  ofAnswers,
  onStreams,
  parsed,
  show,
  skip,
  streamed,
  TOOL,
} from '../../kit/index.ts'
import { DELTAS, STOPS } from './read.ts'
/** The scenarios with a streamed answer. */
export const STREAMS = ['stream', 'stream-tool']

/** The first event of a stream that is not in the order of blocks: one is open at a time, indexes count from 0. */
function disorder(run: AgentRun): JsonRecord | undefined {
  let open: unknown
  let next = 0
  return streamed(run).find(({ type, index }) => {
    if (type === 'content_block_start') {
      if (open !== undefined || index !== next) return true
      open = index
      next += 1
    } else if (type === 'content_block_delta') return open === undefined || index !== open
    else if (type === 'content_block_stop') {
      if (open === undefined || index !== open) return true
      open = undefined
    } else if (type === 'message_delta' || type === 'message_stop') return open !== undefined
    return false
  })
}

/** The block that an event is about, as it began. */
function blockOf(run: AgentRun, { index }: JsonRecord): JsonRecord {
  const start = streamed(run, 'content_block_start').find((one) => one['index'] === index)
  return objectIn(start, 'content_block')
}

/** The arguments that a stream has for the block with this index, joined. */
function inputOf(run: AgentRun, index: unknown): string {
  const own = streamed(run, 'content_block_delta').filter((event) => event['index'] === index)
  return own.map((event) => objectIn(event, 'delta')['partial_json'] ?? '').join('')
}

/** The rules about streams. */
export const streamRows = {
  '3.events': {
    expects: 'every event has a name, and JSON data whose type is that name',
    on: STREAMS,
    judge: ofAnswers((run) =>
      every(eventsOf(run), 'event', ({ object, event }) => isText(event) && object?.['type'] === event),
    ),
  },
  '3.message-start': onStreams(
    STREAMS,
    'the first event is `message_start`: a message without content, with the tokens of its input',
    (run) =>
      fits(streamed(run)[0], (event) => {
        const message = objectIn(event, 'message')
        const { content } = message
        return (
          event?.['type'] === 'message_start' &&
          isText(message['id']) &&
          message['role'] === 'assistant' &&
          Array.isArray(content) &&
          content.length === 0 &&
          isCount(objectIn(message, 'usage')['input_tokens'])
        )
      }),
  ),
  '3.blocks': onStreams(STREAMS, 'blocks begin, go on and stop one after the other, with indexes from 0', (run) => {
    const wrong = disorder(run)
    return expectThat(wrong === undefined, show(wrong))
  }),
  '3.deltas': onStreams(
    STREAMS,
    'a delta is of the type of its block',
    (run) =>
      every(streamed(run, 'content_block_delta'), 'delta', (event) => {
        const kinds = DELTAS[String(blockOf(run, event)['type'])]
        return kinds === undefined || kinds.includes(objectIn(event, 'delta')['type'])
      }),
    ['3.events', '3.blank-lines', '3.blocks'],
  ),
  '3.message-delta': onStreams(
    STREAMS,
    'one `message_delta` has the stop_reason, and the tokens of the output so far',
    (run) => {
      const ends = streamed(run, 'message_delta').filter((event) => objectIn(event, 'delta')['stop_reason'])
      const [end] = ends
      return expectThat(
        ends.length === 1 &&
          STOPS.includes(objectIn(end, 'delta')['stop_reason']) &&
          isCount(objectIn(end, 'usage')['output_tokens']),
        show(ends),
      )
    },
  ),
  '3.message-stop': onStreams(STREAMS, 'the last event is `message_stop`, and there is one', (run) => {
    const types = streamed(run).map(({ type }) => type)
    return expectThat(
      types.at(-1) === 'message_stop' && types.filter((type) => type === 'message_stop').length === 1,
      show(types.slice(-3)),
    )
  }),
  '4.stream-input': {
    expects: 'in a stream a `tool_use` begins with an empty input, and its deltas are a JSON object',
    on: ['stream-tool'],
    needs: ['3.events', '3.blocks'],
    judge: ofAnswers((run) => {
      const starts = streamed(run, 'content_block_start').filter(
        (event) => objectIn(event, 'content_block')['type'] === 'tool_use',
      )
      if (starts.length === 0) return skip('the model used no tool')
      return every(starts, 'use of a tool', ({ index, content_block: block }) => {
        const { id, name, input } = block as JsonRecord
        const isEmpty = isObject(input) && Object.keys(input).length === 0
        return isText(id) && name === TOOL.name && isEmpty && isObject(parsed(inputOf(run, index) || '{}'))
      })
    }),
  },
} as const satisfies Readonly<Record<string, AgentRow>>
