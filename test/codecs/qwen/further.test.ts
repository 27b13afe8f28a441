/** What a message has besides what the model knows, and the words of an end. */
import { describe, expect, test } from 'vitest'
import type { CommandOf, TurnEvent } from '../../../src/model/index.ts'
import { driveBack } from '../../kit/drive.ts'
import {
  CHUNK_ARGS,
  chat,
  chunk,
  codec,
  completed,
  completion,
  endsOf,
  event,
  eventsOf,
  feed,
  finished,
  front,
  JSON_ARGS,
  linesOf,
  play,
  runningBack,
  sentLines,
} from './kit.ts'

/** What a client of each format is shown of these lines of an agent, and what is lost. */
function through(lines: readonly object[], argv: readonly string[]) {
  const back = runningBack()
  feed(back, lines as Record<string, unknown>[])
  const client = front(argv)
  client.feed(chat('hi'))
  play(client, [{ type: 'turn-accepted', how: 'new', session: 's' }, ...(back.events as TurnEvent[])])
  const named = ({ item, field }: { item: string; field?: string }) => `${item}(${field})`
  return { sent: sentLines(client), losses: [...back.losses, ...client.losses].map(named) }
}

const cut = { ...event('MAX_TOKENS'), message: 'Cut at 4096 tokens.' }

describe('what an agent says with the end of its turn', () => {
  test.each([JSON_ARGS, CHUNK_ARGS])('reaches a client that gets the event', (...argv) => {
    const { sent, losses } = through([completion({ content: 'Hi' }, 'length'), cut], argv)
    expect(sent.find(({ type }) => type === 'x-qwen-session-event')).toMatchObject({ message: 'Cut at 4096 tokens.' })
    expect(losses).toEqual([])
  })

  test('is a loss where the last piece is the end', () => {
    const said = { ...event('Finished'), message: 'Took 3 s.' }
    expect(through([completion({ content: 'Hi' }, 'stop'), said], CHUNK_ARGS).losses).toEqual(['ext(message)'])
  })

  test('is nothing when it only repeats the name of the event', () => {
    expect(eventsOf([completion({ content: 'Hi' }, 'stop'), finished]).at(-1)).toEqual(completed)
  })

  test('is a text', () => {
    const last = { ...chunk({}, 'stop'), message: { a: 1 } }
    const { sent } = through([chunk({ content: 'Hi' }), last], JSON_ARGS)
    expect(sent.at(-1)).toMatchObject({ event: 'Finished', message: 'The turn is finished.' })
  })
})

describe('calls at the end of a turn', () => {
  const calls = { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'ls', arguments: '{}' } }] }

  test.each([
    ['pieces', [chunk(calls), chunk({}, 'tool_calls'), chunk({ content: 'Done' })]],
    ['messages', [completion({ content: null, ...calls }, 'tool_calls'), completion({ content: 'Done' }, null)]],
  ])('are not what a turn ends with that says more in %s', (_form, lines) => {
    expect(eventsOf([...lines, event('Finished')]).at(-1)).toEqual(completed)
  })

  test('are followed by the event for a client of pieces: its own reader takes the piece for no end', () => {
    const lines = linesOf([{ ...completed, stop: 'tool-use' }], CHUNK_ARGS)
    expect(lines.map(({ type, choices }) => type ?? choices)).toEqual([
      'x-qwen-session-event',
      [{ index: 0, delta: {}, finish_reason: 'tool_calls' }],
    ])
    const back = runningBack()
    feed(back, [chunk({ content: 'Hi' }), ...lines])
    expect(endsOf(back.events)).toHaveLength(1)
  })
})

test('the content of a completion that reports an error is a loss, unless it repeats the message', () => {
  const failed = (content: string | null) => {
    const back = runningBack()
    feed(back, [completion({ content }, 'error', { metadata: { error: { message: 'no' } } })])
    return back.losses.map(({ item, field }) => `${item}(${field})`)
  }
  expect(['half an answer', 'no', '', null].map(failed)).toEqual([['message-end(text)'], [], [], []])
})

describe('metadata of a request', () => {
  const metadata = { output_format: 'stream-json', protocol_version: '1.0', trace: 'x', n: 1 }

  test.each([
    ['a chat request', chat('hi', { metadata })],
    ['a body', JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], metadata })],
  ])('reaches the agent, without what is for the gateway: %s', (_form, line) => {
    const client = front()
    client.feed(line)
    const { ext } = client.commands[0] as CommandOf<'turn-start'>
    const back = driveBack(codec)
    back.link.open!()
    back.start('hi', { ...(ext && { ext }) })
    expect(sentLines(back)[0]!['metadata']).toEqual({ trace: 'x', n: 1 })
  })

  test('may be no object', () => {
    const client = front()
    client.feed(chat('hi', { metadata: 'x' }))
    expect((client.commands[0] as CommandOf<'turn-start'>).ext).toBeUndefined()
  })
})
