import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pidsOf, until } from '../kit/processes.ts'
import { describeWith, installed, makePlace, type Place } from './kit.ts'

const PACKAGE = installed('@qwen-code/sdk')
/** Tells this file's silent agents from those of others. */
const MARK = '1003'

/** `@qwen-code/sdk`, as far as it is called here. */
interface Sdk {
  query(asked: { prompt: string | AsyncIterable<UserMessage>; options: Options }): Query
}
interface Options {
  pathToQwenExecutable: string
  model: string
  env: Record<string, string>
  sessionId?: string
  resume?: string
  includePartialMessages?: boolean
  permissionMode?: string
  canUseTool?(tool: string, input: object): Promise<object>
}
interface UserMessage {
  type: 'user'
  session_id: string
  message: { role: 'user'; content: string }
  parent_tool_use_id: null
}
interface Query extends AsyncIterable<Message> {
  interrupt(): Promise<void>
  close(): Promise<void>
}
interface Message {
  type: string
  subtype?: string
  session_id?: string
  is_error?: boolean
  result?: string
  error?: { message: string }
  usage?: Record<string, number>
  message?: { content: { type: string; text?: string }[] }
  event?: { type: string; delta?: { text?: string } }
}

const SAID = (text: string, turn: number) => `You said: ${text} (turn ${turn} of this session)`
const ANSWERS: Record<string, (text: string, turn: number, session: string) => string> = {
  helper: (text, turn) => `Turn ${turn} of this session. You said:\n> ${text}`,
  coder: SAID,
  writer: SAID,
  planner: (text, _turn, session) => `You said: ${text} (session ${session})`,
}

/** A user's messages, each sent when the one before has its result. */
class Conversation implements AsyncIterable<UserMessage> {
  readonly #session: string
  readonly #turns: readonly string[]
  #next = Promise.withResolvers<void>()

  constructor(session: string, ...turns: string[]) {
    this.#session = session
    this.#turns = turns
  }

  /** The answer in hand is complete. */
  goOn(): void {
    this.#next.resolve()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<UserMessage> {
    for (const content of this.#turns) {
      yield { type: 'user', session_id: this.#session, message: { role: 'user', content }, parent_tool_use_id: null }
      await this.#next.promise
      this.#next = Promise.withResolvers()
    }
  }
}

describeWith('a client on the Qwen Code SDK', [PACKAGE], () => {
  let place: Place
  let sdk: Sdk

  beforeAll(async () => {
    place = makePlace(undefined, MARK)
    sdk = (await import(`${PACKAGE}/dist/index.mjs`)) as Sdk
  })
  afterAll(() => place.remove())

  /** What the SDK spawns is a link named `qwen` to this project's launcher; the model names the agent. */
  const optionsFor = (agent: string, more: Partial<Options> = {}): Options => ({
    pathToQwenExecutable: place.link('qwen'),
    model: agent,
    env: { TURNPIKE_CONFIG: place.config },
    ...more,
  })

  async function collect(query: Query, each: (message: Message) => void = () => {}): Promise<Message[]> {
    const messages: Message[] = []
    for await (const message of query) {
      messages.push(message)
      each(message)
    }
    await query.close()
    return messages
  }

  const textOf = (messages: readonly Message[]): string =>
    messages
      .filter(({ type }) => type === 'assistant')
      .flatMap(({ message }) => message!.content.map(({ text }) => text ?? ''))
      .join('')

  test.each(Object.keys(ANSWERS))('%s answers a prompt', async (agent) => {
    const sessionId = randomUUID()
    const messages = await collect(sdk.query({ prompt: 'hello there', options: optionsFor(agent, { sessionId }) }))
    const answer = ANSWERS[agent]!('hello there', 1, sessionId)
    expect(messages.map(({ type }) => type)).toEqual(['system', 'assistant', 'result'])
    expect(messages.map(({ session_id }) => session_id)).toEqual([sessionId, sessionId, sessionId])
    expect(textOf(messages)).toBe(answer)
    expect(messages.at(-1)).toMatchObject({ subtype: 'success', is_error: false, result: answer })
  })

  test.each(Object.keys(ANSWERS))('%s streams its answer', async (agent) => {
    const sessionId = randomUUID()
    const options = optionsFor(agent, { sessionId, includePartialMessages: true })
    const messages = await collect(sdk.query({ prompt: 'hello there', options }))
    const answer = ANSWERS[agent]!('hello there', 1, sessionId)
    const events = messages.flatMap(({ event }) => event ?? [])
    expect(textOf(messages)).toBe(answer)
    expect(events.flatMap(({ delta }) => delta?.text ?? []).join('')).toBe(answer)
    expect(events.map(({ type }) => type).filter((type) => !type.endsWith('_delta'))).toEqual([
      'message_start',
      'content_block_start',
      'content_block_stop',
      'message_stop',
    ])
  })

  test.each(Object.keys(ANSWERS))('%s has two turns in one session', async (agent) => {
    const sessionId = randomUUID()
    const conversation = new Conversation(sessionId, 'hello', 'again')
    const messages = await collect(
      sdk.query({ prompt: conversation, options: optionsFor(agent, { sessionId }) }),
      ({ type }) => type === 'result' && conversation.goOn(),
    )
    const results = messages.filter(({ type }) => type === 'result')
    expect(results.map(({ result }) => result)).toEqual([
      ANSWERS[agent]!('hello', 1, sessionId),
      ANSWERS[agent]!('again', 2, sessionId),
    ])
  })

  test('a session is gone on with by another process', async () => {
    const sessionId = randomUUID()
    await collect(sdk.query({ prompt: 'hello', options: optionsFor('writer', { sessionId }) }))
    const resumed = await collect(sdk.query({ prompt: 'again', options: optionsFor('writer', { resume: sessionId }) }))
    expect(textOf(resumed)).toBe(SAID('again', 2))
  })

  test.each([
    ['allow', 'told: allow'],
    ['deny', 'told: deny'],
  ])('its permission callback says %s', async (behavior, told) => {
    const asked: unknown[] = []
    const canUseTool = async (tool: string, input: object): Promise<object> => {
      asked.push([tool, input])
      return behavior === 'allow' ? { behavior, updatedInput: input } : { behavior, message: 'not now' }
    }
    const options = optionsFor('careful', { permissionMode: 'default', canUseTool })
    const messages = await collect(sdk.query({ prompt: 'hi', options }))
    expect(asked).toEqual([['rm', { path: '/tmp/x' }]])
    expect(textOf(messages)).toBe(told)
    expect(messages.at(-1)).toMatchObject({ type: 'result', subtype: 'success', is_error: false })
  })

  test('without a callback nothing is allowed', async () => {
    expect(textOf(await collect(sdk.query({ prompt: 'hi', options: optionsFor('careful') })))).toBe('told: deny')
  })

  test('an interrupt ends the turn and its agent', async () => {
    const conversation = new Conversation('', 'hello')
    const query = sdk.query({ prompt: conversation, options: optionsFor('silent') })
    const interrupted = until(() => pidsOf(`silent.sh\u0000${MARK}`).length === 1).then(() => query.interrupt())
    const messages = await collect(query, ({ type }) => type === 'result' && conversation.goOn())
    await interrupted
    expect(messages.filter(({ type }) => type === 'result')).toMatchObject([
      { subtype: 'error_during_execution', is_error: true },
    ])
    await until(() => pidsOf(`silent.sh\u0000${MARK}`).length === 0)
  })

  test('a failure is an error of the turn', async () => {
    const messages = await collect(sdk.query({ prompt: 'hi', options: optionsFor('failing') }))
    const message = 'The agent failed (exit code 3); its stderr is in the gateway log.'
    expect(messages.at(-1)).toMatchObject({ type: 'result', is_error: true, error: { message } })
  })
})
