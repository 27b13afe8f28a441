/**
 * Clients that are asked for approval: every protocol that knows approvals, each with its own way to ask and to answer.
 */
import { StandInClient } from '../hostile/stand-in.ts'
import { until } from './processes.ts'

type Json = Record<string, unknown>

/** The form in which a client was shown a question; `options` where its protocol shows them. */
export interface Shown {
  id: string
  tool: unknown
  args: unknown
  options?: unknown
}

/** The answer of a client: the id of an option, and which kind that is. `edited` is raw JSON. */
export interface Choice {
  option: string
  kind: 'allow' | 'deny'
  edited?: string
}

/** A client that has asked a turn of an agent. */
export interface AskingClient {
  /** The question that it was shown, once it was. */
  asked(): Promise<Shown>
  /** Answers it, or (`id`) a question that it names by itself. */
  answer(choice: Choice, id?: string): Promise<void>
  /** The refusals of its answers so far, in its protocol's own words. */
  refusals(): unknown[]
  cancel(): Promise<void>
  /** The end of the turn and its text, once the client has them. */
  ended(): Promise<{ ending: string; text: string }>
  /** Goes away; resolves when its wire is closed. */
  close(): Promise<unknown>
}

/** The target of a client: the gateway, the agent, and a name that is its session and, without a `text`, its prompt. */
export interface Where {
  url: string
  agent: string
  name: string
  text?: string
}

/** The whole lines of JSON. In silence empty ones come too. */
const jsonLines = (read: string): Json[] =>
  read
    .split('\n')
    .slice(0, -1)
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Json)

interface LinesKind {
  front: string
  shown(line: Json): Shown | undefined
  answer(id: string, choice: Choice): string
  refused(line: Json): unknown
  text(lines: Json[]): string
}

const edit = (key: string, { edited }: Choice): string => (edited === undefined ? '' : `,"${key}":${edited}`)

/** The clients on lines. */
const LINES = {
  qwen: {
    front: 'qwen',
    shown({ type, request_id, tool, metadata }) {
      if (type !== 'control_request') return undefined
      const { name, arguments: args } = tool as Json
      return { id: String(request_id), tool: name, args, options: (metadata as Json)['options'] }
    },
    answer(id, choice) {
      const result = `{"behavior":"${choice.kind === 'allow' ? 'approve' : 'deny'}","option":"${choice.option}"${edit('updated_arguments', choice)}}`
      return `{"type":"control_response","request_id":"${id}","response":{"subtype":"success","result":${result}}}\n`
    },
    refused: ({ metadata }) => (metadata as Json | undefined)?.['control_errors'],
    text: (lines) =>
      lines
        .flatMap(({ choices }) => (choices as { delta?: { content?: string } }[] | undefined) ?? [])
        .map(({ delta }) => delta?.content ?? '')
        .join(''),
  },
  'qwen-code': {
    front: 'qwen-code',
    shown({ type, request_id, request }) {
      if (type !== 'control_request') return undefined
      const { tool_name, input, permission_suggestions } = request as Json
      const options = (permission_suggestions as Json[]).map(({ type: kind, label }) => [kind, label])
      return { id: String(request_id), tool: tool_name, args: input, options }
    },
    answer(id, choice) {
      const response = `{"behavior":"${choice.kind}"${edit('updatedInput', choice)}}`
      return `{"type":"control_response","response":{"subtype":"success","request_id":"${id}","response":${response}}}\n`
    },
    refused({ type, response }) {
      return type === 'control_response' && (response as Json)['subtype'] === 'error' ? response : undefined
    },
    text: (lines) => String(lines.find(({ type }) => type === 'result')?.['result'] ?? ''),
  },
  'agentproc@0.4': {
    front: 'agentproc@0.4',
    shown({ type, request_id, tool_name, input }) {
      return type === 'permission_request' ? { id: String(request_id), tool: tool_name, args: input } : undefined
    },
    answer: (id, choice) =>
      `{"type":"permission_response","request_id":"${id}","behavior":"${choice.kind}"${edit('updated_input', choice)}}\n`,
    refused: () => undefined,
    text: (lines) => String(lines.find(({ type }) => type === 'result')?.['text'] ?? ''),
  },
  native: {
    front: 'native',
    shown: nativeQuestion,
    answer(id, choice) {
      const reply = `{"kind":"approval","option":"${choice.option}"${edit('edited', choice)}}`
      return `{"type":"ask-reply","exchange":"reply","ask":"${id}","reply":${reply}}\n`
    },
    refused: ({ type, exchange, fault }) => (type === 'command-reply' && exchange === 'reply' ? fault : undefined),
    text: nativeText,
  },
} satisfies Record<string, LinesKind>

function nativeQuestion({ type, ask, question }: Json): Shown | undefined {
  if (type !== 'ask') return undefined
  const { name, args, options } = question as Json
  return { id: String(ask), tool: name, args, options }
}

function nativeText(lines: Json[]): string {
  const parts = lines.flatMap(({ type, parts: said }) =>
    type === 'message-end' ? ((said ?? []) as { text?: string }[]) : [],
  )
  return parts.map(({ text }) => text ?? '').join('')
}

/** A client on the standard streams of a stand-in. */
class LinesClient implements AskingClient {
  readonly #kind: LinesKind
  readonly #client: StandInClient

  constructor(kind: LinesKind, { url, agent, name }: Where) {
    this.#kind = kind
    this.#client = new StandInClient(url, kind.front, agent, { text: name, session: name, asks: true })
  }

  async asked(): Promise<Shown> {
    const seen = (): Shown | undefined => this.#lines.flatMap((line) => this.#kind.shown(line) ?? [])[0]
    await until(() => seen() !== undefined)
    return seen()!
  }

  async answer(choice: Choice, id?: string): Promise<void> {
    this.#client.write(this.#kind.answer(id ?? (await this.asked()).id, choice))
  }

  refusals(): unknown[] {
    const warned = this.#client.errors.split('\n').filter((line) => line.includes('permission_response is ignored'))
    return [...this.#lines.flatMap((line) => this.#kind.refused(line) ?? []), ...warned]
  }

  async cancel(): Promise<void> {
    this.#client.cancel()
  }

  async ended(): Promise<{ ending: string; text: string }> {
    await until(() => this.#client.ending !== undefined)
    return { ending: this.#client.ending!, text: this.#kind.text(this.#lines) }
  }

  close(): Promise<unknown> {
    this.#client.endInput()
    return this.#client.ended
  }

  get #lines(): Json[] {
    return jsonLines(this.#client.read)
  }
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

/** A client of the native API that reads the events of its turn, and answers in separate requests. */
class StreamClient implements AskingClient {
  readonly #url: string
  readonly #done: Promise<void>
  readonly #refused: unknown[] = []
  #read = ''

  constructor({ url, agent, name, text = name }: Where) {
    this.#url = url
    this.#done = this.#begin(`${url}/v1/turns/${agent}`, { input: text, session: { id: name } })
  }

  async asked(): Promise<Shown> {
    const seen = (): Shown | undefined => this.#lines.flatMap((line) => nativeQuestion(line) ?? [])[0]
    await until(() => seen() !== undefined)
    return seen()!
  }

  async answer(choice: Choice, id?: string): Promise<void> {
    const ask = id ?? (await this.asked()).id
    const reply = `{"reply":{"kind":"approval","option":"${choice.option}"${edit('edited', choice)}}}`
    const response = await post(`${this.#url}/v1/turns/${this.#turn}/approvals/${ask}`, reply)
    const body = (await response.json()) as Json
    if (!response.ok) this.#refused.push({ status: response.status, ...(body['fault'] as Json) })
  }

  refusals(): unknown[] {
    return this.#refused
  }

  async cancel(): Promise<void> {
    await post(`${this.#url}/v1/turns/${this.#turn}/cancel`, {})
  }

  async ended(): Promise<{ ending: string; text: string }> {
    await this.#done
    return { ending: String(this.#lines.at(-1)!['outcome']), text: nativeText(this.#lines) }
  }

  close(): Promise<unknown> {
    return this.#done
  }

  async #begin(url: string, body: object): Promise<void> {
    const response = await post(url, body, { accept: 'application/x-ndjson' })
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) this.#read += text
  }

  get #lines(): Json[] {
    return jsonLines(this.#read)
  }

  get #turn(): string {
    return String(this.#lines[0]!['turn'])
  }
}

/** The outcome of an answer in one piece. */
interface Answered {
  ending: string
  text: string
  /** The token that goes on with the turn, where something is asked. */
  token?: string
  shown?: Shown
}

interface WholeKind {
  begin(where: Where): { path: string; body: unknown }
  goOn(where: Where, token: string, id: string | undefined, choice: Choice): { path: string; body: string }
  read(answer: Json): Answered
  refusal(answer: Json, status: number): unknown
}

const goesOnAt = ({ agent }: Where): string => `/v1/openharness/${agent}`

/** The clients whose answers come in one piece: what is asked comes with one, and the next request answers. */
const WHOLE = {
  'native-whole': {
    begin: ({ agent, name }) => ({ path: `/v1/turns/${agent}`, body: { input: name, session: { id: name } } }),
    goOn(_where, token, id, choice) {
      const reply = `{"kind":"approval","option":"${choice.option}"${edit('edited', choice)}}`
      const ask = id === undefined ? '' : `"ask":"${id}",`
      const body = `{"type":"ask-reply","target":{"continuation":"${token}"},${ask}"reply":${reply}}`
      return { path: '/v1/turns', body }
    },
    read(answer) {
      const [ask] = (answer['asks'] ?? []) as Json[]
      const shown = ask && nativeQuestion({ type: 'ask', ...ask })
      const token = answer['continuation'] as string | undefined
      return {
        ending: String(answer['outcome']),
        text: String(answer['text']),
        ...(shown && { shown }),
        ...(token !== undefined && { token }),
      }
    },
    refusal: ({ type, fault }, status) => (type === 'fault' ? { status, ...(fault as Json) } : undefined),
  },
  openharness: {
    begin: (where) => ({
      path: goesOnAt(where),
      body: envelope(JSON.stringify(where.text ?? where.name), where.name, crypto.randomUUID(), ''),
    }),
    goOn(where, token, id, choice) {
      const approval = `{"approval_id":"${id}","option":"${choice.option}"${edit('args', choice)}}`
      const more = `,"continuation":{"continuation_token":"${token}"}`
      const extensions = id === undefined ? '' : `,"extensions":{"urn:turnpike:approval":${approval}}`
      const intent = id === undefined ? JSON.stringify(choice.option) : '""'
      return { path: goesOnAt(where), body: envelope(intent, where.name, crypto.randomUUID(), more + extensions) }
    },
    read(answer) {
      const {
        status,
        error,
        action_directives = [],
      } = answer['response'] as {
        status: string
        error?: { code: string }
        action_directives?: { action_type: string; payload: Json }[]
      }
      const asked = action_directives.find(({ action_type }) => action_type === 'request_approval')?.payload
      const texts = action_directives.map(({ payload }) => payload['text'] ?? '')
      if (asked) {
        const { approval_id, tool, args, options, continuation } = asked
        const token = String((continuation as Json)['continuation_token'])
        return { ending: 'parked', text: '', token, shown: { id: String(approval_id), tool, args, options } }
      }
      const ending = status === 'success' ? 'completed' : error!.code === 'cancelled' ? 'cancelled' : 'failed'
      return { ending, text: texts.join('') }
    },
    refusal(answer, status) {
      const { error } = answer['response'] as { error?: { code: string } }
      return error && error.code !== 'cancelled' ? { status, ...error } : undefined
    },
  },
} satisfies Record<string, WholeKind>

function envelope(intent: string, session: string, request: string, more: string): string {
  const context = `{"session_id":"${session}","user_intent":${intent}${more}}`
  return `{"protocol_version":"1.0.0","request_id":"${session}-${request}","request":{"context":${context}}}`
}

/** A client that answers with its next request. */
class WholeClient implements AskingClient {
  readonly #kind: WholeKind
  readonly #where: Where
  readonly #refused: unknown[] = []
  readonly #first: Promise<Answered>
  #last: Promise<Answered>

  constructor(kind: WholeKind, where: Where) {
    this.#kind = kind
    this.#where = where
    const { path, body } = kind.begin(where)
    this.#first = this.#last = this.#send(path, body)
  }

  async asked(): Promise<Shown> {
    return (await this.#first).shown!
  }

  async answer(choice: Choice, id?: string): Promise<void> {
    const { token, shown } = await this.#first
    const { path, body } = this.#kind.goOn(this.#where, id === undefined ? token! : `${token}x`, shown!.id, choice)
    const answered = await this.#send(path, body)
    if (answered.ending !== 'refused') this.#last = Promise.resolve(answered)
  }

  refusals(): unknown[] {
    return this.#refused
  }

  async cancel(): Promise<void> {
    const { turns } = (await (await fetch(`${this.#where.url}/v1/turns`)).json()) as { turns: Json[] }
    const { turn } = turns.find(({ session }) => session === this.#where.name)!
    await post(`${this.#where.url}/v1/turns/${turn}/cancel`, {})
    await until(async () => {
      const state = (await (await fetch(`${this.#where.url}/v1/turns/${turn}`)).json()) as Json
      return state['state'] !== 'running'
    })
  }

  async ended(): Promise<{ ending: string; text: string }> {
    const { ending, text } = await this.#last
    return { ending, text }
  }

  close(): Promise<unknown> {
    return this.#last
  }

  async #send(path: string, body: unknown): Promise<Answered> {
    const response = await post(`${this.#where.url}${path}`, body)
    const answer = (await response.json()) as Json
    const refusal = this.#kind.refusal(answer, response.status)
    if (refusal === undefined) return this.#kind.read(answer)
    this.#refused.push(refusal)
    return { ending: 'refused', text: '' }
  }
}

/** The clients by the name of their front. */
export const ASKING: Readonly<Record<string, (where: Where) => AskingClient>> = {
  qwen: (where) => new LinesClient(LINES.qwen, where),
  'qwen-code': (where) => new LinesClient(LINES['qwen-code'], where),
  'agentproc@0.4': (where) => new LinesClient(LINES['agentproc@0.4'], where),
  native: (where) => new LinesClient(LINES.native, where),
  'native-stream': (where) => new StreamClient(where),
  'native-whole': (where) => new WholeClient(WHOLE['native-whole'], where),
  openharness: (where) => new WholeClient(WHOLE.openharness, where),
}
