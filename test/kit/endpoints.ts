/** Servers of models without a model: what the players of the conformance suites say, right or wrong in one way. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type JsonRecord, parsed, type Suite } from '../../src/conformance/kit/index.ts'
import { seenLine } from '../../src/conformance/lines.ts'

/** A request as it came; `body` is empty when it is no JSON object. */
export interface Asked {
  method: string
  path: string
  body: JsonRecord
}

/** An answer before it is sent. */
export interface Answer {
  status: number
  headers: Record<string, string>
  text: string
  /** The connection breaks after the text. */
  breaks?: true
}

/** Changes an answer. `as` gives the answer to another request. */
export type Flaw = (answer: Answer, asked: Asked, as: (body: JsonRecord) => Answer) => Answer

/** A running server. */
export interface Endpoint {
  url: string
  close(): Promise<void>
}

/** Starts the server of a suite's player, with a flaw. */
export async function startEndpoint(suite: Suite, flaw: Flaw = (answer) => answer): Promise<Endpoint> {
  const gone = new Set<string>()
  const server = createServer(async (incoming, response) => {
    let raw = ''
    for await (const chunk of incoming.setEncoding('utf8')) raw += chunk
    const head = headOf(incoming)
    const given = parsed(raw)
    const asked = { method: head.method, path: head.path, body: (given ?? {}) as JsonRecord }
    const good = gone.has(head.path) ? NOT_FOUND : played(suite, head, raw)
    if (head.method === 'DELETE') gone.add(head.path)
    const { status, headers, text, breaks } = flaw(good, asked, (body) => played(suite, head, JSON.stringify(body)))
    const length = Buffer.byteLength(text) + (breaks ? 10 : 0)
    response.writeHead(status, { ...headers, 'content-length': length })
    if (breaks) response.write(text, () => response.destroy())
    else response.end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const NOT_FOUND: Answer = { status: 404, headers: {}, text: '{"error":{"message":"gone","type":"not_found"}}' }

function headOf({ method = '', url = '' }: IncomingMessage): { method: string; path: string; headers: object } {
  return { method, path: url, headers: {} }
}

function played(suite: Suite, { method, path }: { method: string; path: string }, raw: string): Answer {
  const request = { method, path, headers: {} }
  const answer: Answer = { status: 200, headers: { 'content-type': 'application/json' }, text: '' }
  for (const one of suite.play({ transport: 'http', argv: [], env: {}, request }).line(seenLine(raw, true, 0))) {
    if ('status' in one) answer.status = one.status
    else if ('contentType' in one) answer.headers['content-type'] = one.contentType
    else if ('header' in one) answer.headers[one.header[0]] = one.header[1]
    else if ('write' in one) answer.text += one.write
  }
  return answer
}

/** True for a stream of events. */
export const isStream = ({ headers }: Answer): boolean => headers['content-type'] === 'text/event-stream'

/** A flaw of whole answers to requests for a turn. */
export const whole =
  (change: (body: JsonRecord, asked: Asked) => JsonRecord): Flaw =>
  (answer, asked) =>
    isStream(answer) || asked.method === 'GET' || answer.status !== 200 ? answer : json(answer, change, asked)

/** A flaw of answers to GET, DELETE and other requests whose path matches. */
export const at =
  (path: RegExp, change: (body: JsonRecord) => JsonRecord, method = 'GET'): Flaw =>
  (answer, asked) =>
    asked.method === method && path.test(asked.path) && answer.status === 200 ? json(answer, change, asked) : answer

/** A flaw of errors. */
export const errors =
  (change: (body: JsonRecord) => JsonRecord): Flaw =>
  (answer, asked) =>
    answer.status >= 400 ? json(answer, change, asked) : answer

/** Another status for requests whose JSON holds this text, or, without one, for those that are no JSON. */
export const status =
  (code: number, text?: string, body?: JsonRecord): Flaw =>
  (answer, asked) => {
    const isIt =
      text === undefined ? Object.keys(asked.body).length === 0 && asked.method === 'POST' : holds(asked, text)
    return isIt ? { ...answer, status: code, ...(body && { text: JSON.stringify(body) }) } : answer
  }

/** Other headers for answers of one kind. */
export const headers =
  (isIt: (answer: Answer, asked: Asked) => boolean, change: Record<string, string>): Flaw =>
  (answer, asked) =>
    isIt(answer, asked) ? { ...answer, headers: { ...answer.headers, ...change } } : answer

/** A flaw of the text of answers. */
export const text =
  (isIt: (answer: Answer, asked: Asked) => boolean, change: (text: string) => string): Flaw =>
  (answer, asked) =>
    isIt(answer, asked) ? { ...answer, text: change(answer.text) } : answer

/** A flaw of the events of streams: an object is an event, a text is one that is no JSON. */
export const events =
  (change: (all: (JsonRecord | string)[]) => (JsonRecord | string)[]): Flaw =>
  (answer) => {
    if (!isStream(answer)) return answer
    const isNamed = answer.text.startsWith('event:')
    const all = answer.text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
    const objects = all.map((one) => (parsed(one) as JsonRecord | undefined) ?? one)
    const frames = change(objects).map((one) => {
      if (typeof one === 'string') return `data: ${one}\n\n`
      return `${isNamed ? `event: ${String(one['type'])}\n` : ''}data: ${JSON.stringify(one)}\n\n`
    })
    return { ...answer, text: frames.join('') }
  }

/** A flaw of the events of streams that match; an empty list leaves them out. */
export const event = (
  isIt: (one: JsonRecord, at: number) => boolean,
  change: (one: JsonRecord) => (JsonRecord | string)[],
): Flaw => events((all) => all.flatMap((one, at) => (typeof one !== 'string' && isIt(one, at) ? change(one) : [one])))

/** Breaks the connection after answers to requests whose JSON holds this text. */
export const broken =
  (text: string): Flaw =>
  (answer, asked) =>
    holds(asked, text) ? { ...answer, breaks: true } : answer

/** True for a request whose JSON holds this text. */
export function holds({ body }: Asked, text: string): boolean {
  return JSON.stringify(body).includes(text)
}

function json(answer: Answer, change: (body: JsonRecord, asked: Asked) => JsonRecord, asked: Asked): Answer {
  return { ...answer, text: JSON.stringify(change(JSON.parse(answer.text) as JsonRecord, asked)) }
}
