import {
  type AgentRow,
  type AgentRun,
  eventsOf,
  every,
  expectThat,
  fits,
  isObject,
  isText,
  type JsonRecord,
  objectIn,
  ofAnswers,
  onStreams,
  parsed,
  recordsIn,
  show,
  streamed,
} from '../../../kit/index.ts'
import { doneItems, ENDS, endOf, joined, partsIn, placeOf } from './read.ts'
/** The scenarios with a streamed answer. */
export const STREAMS = ['stream', 'stream-tool']

/** Every delta is of an item that is open. */
function strayDeltas(run: AgentRun): JsonRecord[] {
  const open = new Set<unknown>()
  return streamed(run).filter((event) => {
    const { type, output_index: at } = event
    if (type === 'response.output_item.added') open.add(at)
    if (type === 'response.output_item.done') open.delete(at)
    return String(type).endsWith('.delta') && !open.has(at)
  })
}

const textsOf = (items: readonly JsonRecord[]): string =>
  partsIn(items)
    .map(({ text, refusal }) => text ?? refusal)
    .join('\n')

/** The rules about streams. */
export const streamRows = {
  '3.events': {
    expects: 'the data of every event is a JSON object with the type that the event has',
    on: STREAMS,
    judge: ofAnswers((run) =>
      every(
        eventsOf(run).filter(({ data }) => data !== '[DONE]'),
        'event',
        ({ object, event }) => isText(object?.['type']) && (event === undefined || event === object['type']),
      ),
    ),
  },
  '3.sequence': onStreams(STREAMS, 'sequence_number counts from 0 or 1 without a gap', (run) => {
    const numbers = streamed(run).map(({ sequence_number: number }) => number)
    return expectThat(
      (numbers[0] === 0 || numbers[0] === 1) && numbers.every((one, at) => one === Number(numbers[0]) + at),
      show(numbers),
    )
  }),
  '3.created': onStreams(STREAMS, 'the first event is `response.created`, with a response in progress', (run) => {
    const { type, response } = streamed(run)[0] ?? {}
    return expectThat(
      type === 'response.created' && isObject(response) && isText(response['id']) && response['status'] !== 'completed',
      show(streamed(run)[0]),
    )
  }),
  '3.one-end': onStreams(STREAMS, 'one event ends the response, and it is the last', (run) => {
    const types = streamed(run).map(({ type }) => type)
    const ends = types.filter((type) => ENDS.includes(String(type)))
    return expectThat(ends.length === 1 && types.at(-1) === ends[0], show(types.slice(-3)))
  }),
  '3.items': onStreams(STREAMS, 'every item is added, and done once', (run) => {
    const indexes = (name: string): unknown[] =>
      streamed(run, `response.output_item.${name}`).map((one) => one['output_index'])
    const [added, done] = [indexes('added'), indexes('done').toSorted()]
    return expectThat(added.every((index, at) => index === at) && show(done) === show(added), show({ added, done }))
  }),
  '3.deltas': onStreams(STREAMS, 'a delta is of an item that has been added and is not done', (run) => {
    const [stray] = strayDeltas(run)
    return expectThat(stray === undefined, show(stray))
  }),
  '3.text': onStreams(STREAMS, 'the deltas of a text are the text of its `done`', (run) => {
    const said = joined(run, 'response.output_text.delta')
    const done = streamed(run, 'response.output_text.done')
    const wrong = done.find((event) => (said.get(placeOf(event)) ?? '') !== event['text'])
    return expectThat(wrong === undefined && done.length === said.size, show(wrong ?? [...said]))
  }),
  '3.item-text': onStreams(
    STREAMS,
    'a message that is done has the text of its deltas',
    (run) => {
      const said = [
        ...joined(run, 'response.output_text.delta').values(),
        ...joined(run, 'response.refusal.delta').values(),
      ]
      return expectThat(said.join('\n') === textsOf(doneItems(run)), show(doneItems(run)))
    },
    ['3.events', '3.blank-lines', '3.items'],
  ),
  '3.final': onStreams(
    STREAMS,
    'the last event has the response with all items that are done',
    (run) =>
      fits(objectIn(endOf(run), 'response'), (response) => {
        const output = recordsIn(response, 'output')
        const ids = (items: readonly JsonRecord[]): string => show(items.map(({ id }) => id))
        return (
          isText(response['id']) && ids(output) === ids(doneItems(run)) && textsOf(output) === textsOf(doneItems(run))
        )
      }),
    ['3.events', '3.blank-lines', '3.one-end', '3.items', '3.item-text'],
  ),
  '3.same-id': onStreams(STREAMS, 'the response has the same id in all events', (run) => {
    const ids = streamed(run).flatMap(({ response }) => (isObject(response) ? [response['id']] : []))
    return every(ids, 'response', (id) => id === ids[0])
  }),
  '4.stream-arguments': {
    expects: 'in a stream the deltas of the arguments of a call are its arguments, a JSON object',
    on: ['stream-tool'],
    needs: ['3.events', '3.items'],
    judge: ofAnswers((run) => {
      const said = [...joined(run, 'response.function_call_arguments.delta').values()]
      const calls = doneItems(run).filter(({ type }) => type === 'function_call')
      return every(
        calls,
        'call',
        ({ arguments: args }) => said.includes(String(args)) && isObject(parsed(String(args))),
      )
    }),
  },
} as const satisfies Readonly<Record<string, AgentRow>>
