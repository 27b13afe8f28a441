/** Sources of texts, from each API of models to each other: in streams, in whole answers, and in conversations. */
import { describe, expect, test } from 'vitest'
import { codec as anthropic } from '../../codecs/anthropic/index.ts'
import { codec as openai } from '../../codecs/openai/index.ts'
import { frameText } from '../../src/contract/index.ts'
import type { Citation, Part, TurnEvent, TurnStart } from '../../src/model/index.ts'
import { type BackDrive, driveBack, driveFront, type FrontDrive } from '../kit/drive.ts'

const turn = 't1'
/** The second piece has a source. A cloud is one character, and two units of UTF-16. */
const PIECES = ['It rains ', '☁️🌧 a lot', '.'] as const
const TEXT = PIECES.join('')
const PLACE = { start: 9, end: 18 }
const PAGE = { title: 'Weather', url: 'https://weather.example/' }

const json = JSON.stringify
const server = (codec: typeof openai | typeof anthropic, dialect: string): BackDrive => {
  const drive = driveBack(codec as typeof openai, { dialect })
  drive.start('hi')
  return drive
}
const fed = (drive: BackDrive, ...events: object[]): BackDrive => {
  for (const event of events) drive.feed({ data: json(event) })
  drive.link.decodeEnd?.({ call: drive.calls.at(-1)!.call, why: 'closed' })
  return drive
}

const OF_CHAT = {
  type: 'url_citation',
  url_citation: { start_index: PLACE.start, end_index: PLACE.end, ...PAGE },
}
const OF_RESPONSES = { type: 'url_citation', start_index: PLACE.start, end_index: PLACE.end, ...PAGE }
const OF_MESSAGES = {
  type: 'web_search_result_location',
  cited_text: 'Rain, a lot.',
  ...PAGE,
  encrypted_index: 'e1',
}
const SEALED = { quote: 'Rain, a lot.', ext: { protocol: 'anthropic', json: json(OF_MESSAGES) } }

const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
})
const output = { type: 'message', id: 'msg_1', role: 'assistant' }
const piece = (delta: string) => ({
  type: 'response.output_text.delta',
  output_index: 0,
  content_index: 0,
  delta,
})
const block = (index: number, text: string, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
  ...[{ type: 'text_delta', text }, ...deltas].map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]

/** What servers say, and what they add to the page and its place. */
const SERVERS: readonly [name: string, () => BackDrive, more: Citation][] = [
  [
    'chat, streamed',
    () =>
      fed(
        server(openai, 'chat'),
        ...PIECES.map((content) => chunk({ content })),
        chunk({ annotations: [OF_CHAT] }),
        chunk({}, 'stop'),
      ),
    {},
  ],
  [
    'chat, whole',
    () =>
      fed(server(openai, 'chat'), {
        choices: [{ message: { content: TEXT, annotations: [OF_CHAT] }, delta: null, finish_reason: 'stop' }],
      }),
    {},
  ],
  [
    'responses, streamed',
    () =>
      fed(
        server(openai, 'responses'),
        { type: 'response.output_item.added', output_index: 0, item: output },
        ...PIECES.slice(0, 2).map(piece),
        { type: 'response.output_text.annotation.added', output_index: 0, annotation: OF_RESPONSES },
        piece(PIECES[2]),
        {
          type: 'response.output_item.done',
          output_index: 0,
          item: { ...output, content: [{ type: 'output_text', text: TEXT, annotations: [OF_RESPONSES] }] },
        },
        { type: 'response.completed', response: { status: 'completed' } },
      ),
    {},
  ],
  [
    'responses, whole',
    () =>
      fed(server(openai, 'responses'), {
        object: 'response',
        status: 'completed',
        output: [{ ...output, content: [{ type: 'output_text', text: TEXT, annotations: [OF_RESPONSES] }] }],
      }),
    {},
  ],
  [
    'messages, streamed',
    () =>
      fed(
        server(anthropic, 'messages'),
        { type: 'message_start', message: { usage: {} } },
        ...block(0, PIECES[0]),
        ...block(1, PIECES[1], { type: 'citations_delta', citation: OF_MESSAGES }),
        ...block(2, PIECES[2]),
        { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
        { type: 'message_stop' },
      ),
    SEALED,
  ],
  [
    'messages, whole',
    () =>
      fed(server(anthropic, 'messages'), {
        type: 'message',
        content: [
          { type: 'text', text: PIECES[0], citations: null },
          { type: 'text', text: PIECES[1], citations: [OF_MESSAGES] },
          { type: 'text', text: PIECES[2] },
        ],
        stop_reason: 'end_turn',
      }),
    SEALED,
  ],
]

const post = (codec: typeof openai | typeof anthropic, dialect: string, path: string, body: object): FrontDrive => {
  const headers = { 'content-type': 'application/json' }
  const drive = driveFront(codec as typeof openai, { dialect, transport: 'http', method: 'POST', path, headers })
  drive.feed(json({ model: 'coder', ...body }))
  return drive
}
const said = { messages: [{ role: 'user', content: 'hi' }] }
const chat = (stream: boolean) => post(openai, 'chat', '/v1/chat/completions', { ...said, stream })
const responses = (stream: boolean) => post(openai, 'responses', '/v1/responses', { input: 'hi', stream })
const messages = (stream: boolean) => post(anthropic, 'messages', '/v1/messages', { ...said, max_tokens: 9, stream })

/** A text of an answer, as the APIs have it. */
interface Said {
  content?: unknown
  text?: string
  annotations?: unknown[]
}
/** What a client gets of any of the APIs. */
interface Body {
  type: string
  content: unknown
  choices: [{ delta: Said; message: Said }]
  output: [{ content: [Said] }]
  response: Body
  annotation: unknown
  annotation_index: number
  delta?: { type: string; text?: string; citation?: unknown }
}
const bodies = (drive: FrontDrive): Body[] =>
  drive.sent.flatMap((frame) => (frameText(frame) === '[DONE]' ? [] : (JSON.parse(frameText(frame)) as Body)))
const bodyOf = (drive: FrontDrive): Body => bodies(drive).at(-1)!
const textPart = ({ output: [item] }: Body): Said => item.content[0]

/** What clients read: the text and its sources, as the API has them. */
const CLIENTS: readonly [name: string, open: () => FrontDrive, read: (drive: FrontDrive) => unknown, api: string][] = [
  ['chat, streamed', () => chat(true), (drive) => chatPieces(drive), 'chat'],
  [
    'chat, whole',
    () => chat(false),
    (drive) => {
      const [{ message }] = bodyOf(drive).choices
      return [message.content, message.annotations]
    },
    'chat',
  ],
  ['responses, streamed', () => responses(true), (drive) => responsesPieces(drive), 'responses'],
  [
    'responses, whole',
    () => responses(false),
    (drive) => {
      const part = textPart(bodyOf(drive))
      return [part.text, part.annotations]
    },
    'responses',
  ],
  ['messages, streamed', () => messages(true), (drive) => blocksOf(drive), 'messages, streamed'],
  ['messages, whole', () => messages(false), (drive) => bodyOf(drive).content, 'messages, whole'],
]

function chatPieces(drive: FrontDrive): unknown {
  const deltas = bodies(drive).flatMap(({ choices: [choice] }) => choice?.delta ?? [])
  const lists = deltas.flatMap(({ annotations }) => (annotations === undefined ? [] : [annotations]))
  expect(lists).toHaveLength(1)
  return [deltas.map(({ content }) => content ?? '').join(''), lists[0]]
}

function responsesPieces(drive: FrontDrive): unknown {
  const events = bodies(drive)
  const added = events.filter(({ type }) => type === 'response.output_text.annotation.added')
  expect(added.map(({ annotation_index: index }) => index)).toEqual(added.map((_, index) => index))
  const part = textPart(events.at(-1)!.response)
  expect(part.annotations).toEqual(added.map(({ annotation }) => annotation))
  return [part.text, part.annotations]
}

function blocksOf(drive: FrontDrive): unknown {
  const blocks: { type: 'text'; text: string; citations?: unknown[] }[] = []
  for (const { type, delta } of bodies(drive)) {
    if (type === 'content_block_start') blocks.push({ type: 'text', text: '' })
    const last = blocks.at(-1)!
    if (delta?.type === 'text_delta') last.text += delta.text
    if (delta?.type === 'citations_delta') last.citations = [...(last.citations ?? []), delta.citation]
  }
  return blocks
}

describe.each(SERVERS)('a server of %s', (server, answer, more) => {
  const { events, losses } = answer()
  const citation = { ...PAGE, ...PLACE, ...more }

  test('cites a page', () => {
    expect(losses).toEqual([])
    expect(events.filter(({ type }) => type === 'citation')).toEqual([
      { type: 'citation', turn, message: expect.any(String), ...citation },
    ])
    const end = events.find(({ type }) => type === 'message-end') as TurnEvent & { parts: Part[] }
    const { start: _, end: __, ...whole } = citation
    expect(end.parts).toEqual(
      server.startsWith('messages')
        ? PIECES.map((text, at) => ({ type: 'text', text, ...(at === 1 && { citations: [whole] }) }))
        : [{ type: 'text', text: TEXT, citations: [citation] }],
    )
  })

  test.each(CLIENTS)('to a client of %s', (_, open, read, api) => {
    const drive = open()
    drive.play([{ type: 'turn-accepted', turn, how: 'new', session: 's' }, ...(events as TurnEvent[])])
    const { quote } = more
    const endsLate = !['messages, streamed', 'messages, whole', 'responses, streamed'].includes(server)
    const own = { ...OF_MESSAGES, ...(quote === undefined && { cited_text: '', encrypted_index: '' }) }
    const [before, cited, after] = PIECES
    const found = quote === undefined ? OF_CHAT.url_citation : { ...OF_CHAT.url_citation, content: quote }
    const shown: Readonly<Record<string, unknown>> = {
      chat: [TEXT, [{ ...OF_CHAT, url_citation: found }]],
      responses: [TEXT, [OF_RESPONSES]],
      // A block begins before its source is known, and ends with that.
      'messages, streamed': endsLate
        ? [{ type: 'text', text: TEXT, citations: [own] }]
        : [
            { type: 'text', text: before + cited, citations: [own] },
            { type: 'text', text: after },
          ],
      'messages, whole': [
        { type: 'text', text: before },
        { type: 'text', text: cited, citations: [own] },
        { type: 'text', text: after },
      ],
    }
    expect(read(drive)).toEqual(shown[api])
  })
})

const event = <T extends TurnEvent['type']>(type: T, more: object = {}): TurnEvent =>
  ({ type, turn, ...more }) as TurnEvent
const CALLED = event('tool-call', { tool: 't', name: 'ls', args: '{}', executor: 'agent' })
const DONE = event('tool-end', { tool: 't', status: 'ok', parts: [] })
const page = (start: number, end: number): Citation => ({ ...PAGE, start, end })

/** What a client gets of a message with these parts, of which some may have come in pieces before. */
function shown(drive: FrontDrive, parts: readonly Part[], ...before: TurnEvent[]): FrontDrive {
  const open = event('message-start', { message: 'm1', role: 'assistant' })
  const close = event('message-end', { message: 'm1', parts })
  drive.play([event('turn-started'), open, ...before, close, event('turn-end', { outcome: 'completed' })])
  return drive
}
const cited = (text: string, ...citations: Citation[]): Part => ({ type: 'text', text, citations })
const lossesOf = (drive: FrontDrive | BackDrive) =>
  drive.losses.filter(({ kind }) => kind !== 'invented').map(({ kind, item, field }) => [kind, item, field])

describe('a message whose sources come with its end', () => {
  const parts = [cited('One', page(0, 3)), cited(' two.', page(1, 4))]
  const whole = [
    { ...OF_RESPONSES, start_index: 0, end_index: 3 },
    { ...OF_RESPONSES, start_index: 4, end_index: 7 },
  ]
  test.each([
    ['that streamed', [event('text-delta', { message: 'm1', text: 'One two.' })]],
    ['in one piece', []],
  ] as const)('%s', (_, before) => {
    expect(responsesPieces(shown(responses(true), parts, ...before))).toEqual(['One two.', whole])
    const [, found] = chatPieces(shown(chat(true), parts, ...before)) as [string, (typeof OF_CHAT)[]]
    expect(found.map(({ url_citation: { start_index: start, end_index: end } }) => [start, end])).toEqual([
      [0, 3],
      [4, 7],
    ])
    const blocks = blocksOf(shown(messages(true), parts, ...before)) as { text: string; citations?: unknown[] }[]
    expect(blocks.map(({ text, citations = [] }) => [text, citations.length])).toEqual(
      before.length > 0
        ? [['One two.', 2]]
        : [
            ['One', 1],
            [' ', 0],
            ['two', 1],
            ['.', 0],
          ],
    )
  })
})

describe('a source without a form is a loss', () => {
  const document: Part = cited('It rains.', { title: 'Almanac', quote: 'rain' })
  const nothing: Part = cited('It rains.', {})
  const file: Part = cited('It rains.', { ref: 'file-1', ext: { protocol: 'other', json: '{"page":1}' } })

  test.each([
    [chat, document, [['dropped', 'citation', undefined]]],
    [
      chat,
      file,
      [
        ['dropped', 'citation', undefined],
        ['dropped', 'part.ext', 'other'],
      ],
    ],
    [responses, document, [['weakened', 'citation', 'quote']]],
    [responses, nothing, [['dropped', 'citation', undefined]]],
    [responses, file, [['dropped', 'part.ext', 'other']]],
    [messages, document, [['dropped', 'citation', undefined]]],
    [
      messages,
      file,
      [
        ['dropped', 'citation', undefined],
        ['dropped', 'part.ext', 'other'],
      ],
    ],
  ])('%#', (open, part, lost) => {
    for (const stream of [true, false]) expect(lossesOf(shown(open(stream), [part]))).toEqual(lost)
  })

  test('a document is a file for a client of the Responses API', () => {
    expect(textPart(bodyOf(shown(responses(false), [document]))).annotations).toEqual([
      { type: 'file_citation', file_id: 'Almanac', filename: 'Almanac', index: 9 },
    ])
    expect(textPart(bodyOf(shown(responses(false), [file]))).annotations).toEqual([
      { type: 'file_citation', file_id: 'file-1', filename: 'file-1', index: 9 },
    ])
  })

  test('text before its place in a block that has been streamed', () => {
    const before = [
      event('text-delta', { message: 'm1', text: 'One two' }),
      event('citation', { message: 'm1', ...page(4, 7) }),
    ]
    const drive = shown(messages(true), [cited('One two', page(4, 7))], ...before)
    expect(lossesOf(drive)).toEqual([['weakened', 'citation', 'start']])
  })
})

describe('a conversation', () => {
  const file = { type: 'file_citation', file_id: 'file-1', filename: 'a.pdf', index: 3 }
  const inFile = {
    type: 'container_file_citation',
    container_id: 'c',
    file_id: 'f',
    filename: 'b.csv',
    start_index: 0,
    end_index: 2,
  }
  const startOf = (drive: FrontDrive): TurnStart => drive.commands.at(-1) as TurnStart
  const own = (given: object) => ({ protocol: 'openai', json: json(given) })

  test('of the Responses API has its sources on the way to a server of it', () => {
    const content = [{ type: 'output_text', text: TEXT, annotations: [OF_RESPONSES, file, inFile] }]
    const input = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content },
      { role: 'user', content: 'two' },
    ]
    const { history } = startOf(post(openai, 'responses', '/v1/responses', { input }))
    expect(history?.[1]?.parts).toEqual([
      {
        type: 'text',
        text: TEXT,
        citations: [
          { ...PAGE, ...PLACE },
          { title: 'a.pdf', ref: 'file-1', ext: own(file) },
          { title: 'b.csv', ref: 'f', start: 0, end: 2, ext: own(inFile) },
        ],
      },
    ])
    const drive = driveBack(openai, { dialect: 'responses' })
    drive.start('two', { history: history! })
    const sent = JSON.parse((drive.calls[0] as { body: string }).body) as { input: { content: object[] }[] }
    expect(sent.input[1]!.content).toEqual(content)
    expect(drive.losses).toEqual([])
  })

  test('of Chat Completions has them on the way here, and a server of it has no place for them', () => {
    const answer = { role: 'assistant', content: TEXT, annotations: [OF_CHAT] }
    const { history } = startOf(
      post(openai, 'chat', '/v1/chat/completions', { messages: [said.messages[0], answer, said.messages[0]] }),
    )
    expect(history?.[1]?.parts).toEqual([cited(TEXT, { ...PAGE, ...PLACE })])
    const drive = driveBack(openai, { dialect: 'chat' })
    drive.start('two', { history: history! })
    const sent = JSON.parse((drive.calls[0] as { body: string }).body) as { messages: object[] }
    expect(sent.messages[1]).toEqual({ role: 'assistant', content: [{ type: 'text', text: TEXT }] })
    expect(lossesOf(drive)).toEqual([['dropped', 'citation', undefined]])
  })

  test('of the Messages API gives its provider those that it has made, as they came', () => {
    const strange = { ...OF_MESSAGES, encrypted_index: '' }
    const content = [
      { type: 'text', text: PIECES[0] },
      { type: 'text', text: PIECES[1], citations: [OF_MESSAGES] },
      { type: 'text', text: PIECES[2], citations: [strange] },
    ]
    const { history } = startOf(
      post(anthropic, 'messages', '/v1/messages', {
        max_tokens: 9,
        messages: [said.messages[0], { role: 'assistant', content }, said.messages[0]],
      }),
    )
    const drive = driveBack(anthropic, {})
    drive.start('two', { history: history! })
    const sent = JSON.parse((drive.calls[0] as { body: string }).body) as { messages: { content: object[] }[] }
    expect(sent.messages[1]!.content).toEqual([content[0], content[1], { type: 'text', text: PIECES[2] }])
    expect(lossesOf(drive)).toEqual([['dropped', 'citation', undefined]])
  })

  test.each([
    [
      'chat',
      '/v1/chat/completions',
      { messages: [{ role: 'assistant', content: 'a', annotations: [{}] }] },
      'messages[0].annotations must be an array of annotations',
    ],
    [
      'responses',
      '/v1/responses',
      { input: [{ role: 'assistant', content: [{ type: 'output_text', text: 'a', annotations: 1 }] }] },
      'input[0].content[0] is not a valid output_text part',
    ],
    [
      'messages',
      '/v1/messages',
      { max_tokens: 9, messages: [{ role: 'assistant', content: [{ type: 'text', text: 'a', citations: 1 }] }] },
      'messages[0].content[0] has citations that are no list of sources',
    ],
    [
      'messages',
      '/v1/messages',
      { max_tokens: 9, messages: [{ role: 'assistant', content: [{ type: 'text', text: 'a', citations: [1] }] }] },
      'messages[0].content[0] has citations that are no list of sources',
    ],
  ])('of %s with sources that are none is refused', (dialect, path, body, message) => {
    const drive = post(dialect === 'messages' ? anthropic : openai, dialect, path, body)
    expect(drive.commands).toEqual([])
    expect(drive.faults[0]?.fault).toMatchObject({ code: 'invalid-request', message: expect.stringContaining(message) })
  })
})

describe('sources of a server that cannot be read', () => {
  test.each<[string, object, object]>([
    ['chat', chunk({ content: 'a', annotations: [{ type: 'url_citation' }] }), chunk({}, 'stop')],
    [
      'responses',
      { type: 'response.output_text.delta', delta: 'a' },
      { type: 'response.output_text.annotation.added' },
    ],
  ])('are a loss in %s', (dialect, first, second) => {
    const drive = fed(server(openai, dialect), first, second)
    expect(drive.losses).toEqual([{ kind: 'unparsed', item: 'citation', why: 'unknown', count: 1 }])
  })

  test('are passed on in Messages', () => {
    const delta = { type: 'citations_delta', citation: 1 }
    const drive = fed(server(anthropic, 'messages'), { type: 'message_start', message: {} }, ...block(0, 'a', delta))
    expect(drive.events.filter(({ type }) => type === 'foreign' || type === 'citation')).toMatchObject([
      { type: 'foreign', protocol: 'anthropic' },
    ])
  })
})

describe('a source that stands nowhere in its message', () => {
  const elsewhere = event('citation', { message: 'm1', ...page(0, 3) })

  test.each([
    ['of text that is shown no more', [event('text-delta', { message: 'm1', text: 'One' }), CALLED, DONE, elsewhere]],
    ['of a sub-agent', [{ ...elsewhere, lane: 'sub' }]],
  ])('is not written: %s', (_, before) => {
    for (const open of [responses, messages]) {
      const sent = JSON.stringify(shown(open(true), [], ...(before as TurnEvent[])).sent)
      expect(sent).not.toContain('weather.example')
    }
  })

  test('is a loss where a server says it of another item, or of a part without text', () => {
    const drive = server(openai, 'responses')
    const added = (output_index: number, content_index: number) =>
      drive.feed({
        data: json({
          type: 'response.output_text.annotation.added',
          output_index,
          content_index,
          annotation: OF_RESPONSES,
        }),
      })
    added(0, 0)
    drive.feed({ data: json(piece('One')) })
    added(1, 0)
    added(0, 1)
    expect(lossesOf(drive)).toEqual([
      ['dropped', 'citation', undefined],
      ['dropped', 'citation', undefined],
    ])
    expect(drive.events.filter(({ type }) => type === 'citation')).toMatchObject([{ start: 3, end: 3 }])
  })

  test('is one of the part of the content that it is in', () => {
    const drive = server(openai, 'responses')
    const content = ['One ', 'two'].map((said) => ({
      type: 'output_text',
      text: said,
      annotations: [{ ...OF_RESPONSES, start_index: 0, end_index: 3 }],
    }))
    fed(drive, { object: 'response', status: 'completed', output: [{ ...output, content }] })
    expect(drive.events.filter(({ type }) => type === 'citation')).toMatchObject([
      { start: 0, end: 3 },
      { start: 4, end: 7 },
    ])
  })
})

describe('odd sources', () => {
  test('a page may have no title, and a text of a list may be the second', () => {
    const untitled: Part = cited('It rains.', { url: PAGE.url })
    expect(chatPieces(shown(chat(true), [untitled]))).toMatchObject([
      'It rains.',
      [{ url_citation: { title: '', start_index: 0, end_index: 9 } }],
    ])
    expect(bodyOf(shown(messages(false), [untitled])).content).toMatchObject([{ citations: [{ title: null }] }])
    const content = [
      { type: 'refusal', refusal: 'No' },
      { type: 'text', text: 'It rains.' },
    ]
    const asked = { messages: [{ role: 'assistant', content, annotations: [OF_CHAT] }, said.messages[0]] }
    const start = post(openai, 'chat', '/v1/chat/completions', asked).commands.at(-1) as TurnStart
    expect(start.history?.[0]?.parts).toMatchObject([
      cited('No', { ...PAGE, ...PLACE }),
      { type: 'text', text: 'It rains.' },
    ])
  })

  test('those of a user’s text are a loss for a server of the Responses API', () => {
    const drive = driveBack(openai, { dialect: 'responses' })
    drive.start('hi', { input: [cited('It rains.', PAGE)] })
    expect(lossesOf(drive)).toEqual([['dropped', 'citation', undefined]])
  })

  test('a blank text goes to no server of the Messages API, with its sources', () => {
    const drive = driveBack(anthropic, {})
    const ext = { protocol: 'anthropic', json: json(OF_MESSAGES) }
    drive.start('hi', { history: [{ role: 'assistant', parts: [cited(' ', { ext })] }] })
    const sent = JSON.parse((drive.calls[0] as { body: string }).body) as { messages: object[] }
    expect(sent.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'hi' }] }])
  })

  test('one in a block that is no text is passed on', () => {
    const delta = { type: 'citations_delta', citation: OF_MESSAGES }
    const begin = { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } }
    const drive = fed(server(anthropic, 'messages'), { type: 'message_start', message: {} }, begin, {
      type: 'content_block_delta',
      index: 0,
      delta,
    })
    expect(drive.events.map(({ type }) => type)).toContain('foreign')
  })
})
