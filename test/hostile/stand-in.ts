/** A client on the standard streams of a stand-in, by the gateway's endpoint for them: every protocol, with its own word for a cancel. */
import { type ClientRequest, request } from 'node:http'
import { CLIENTS } from '../kit/clients.ts'

/** What a client asks. `session` is its own name of the conversation. */
interface Asked {
  text: string
  session: string
  /** The client can be asked: it says so where its protocol has a word for it. */
  asks?: true
}

interface Kind {
  /** The protocol that the program stands in for. */
  program: string
  argv(asked: Asked): readonly string[]
  env?(asked: Asked): Record<string, string>
  /** The request as it is written; absent where it is in the environment. */
  ask?(asked: Asked): string
  /** The protocol's own word for a cancel; absent where only a signal says it. */
  cancel?(asked: Asked): string
  /** The request is whole only at the end of the input. */
  endsInput?: true
  /** How the turn has ended in the client's eyes, once that is told. */
  ending(read: string): 'completed' | 'cancelled' | 'failed' | undefined
}

type Json = Record<string, unknown>

const line = (value: object): string => `${JSON.stringify(value)}\n`

/** The whole lines of what was read, as far as they are JSON objects. */
function jsonLines(read: string): Json[] {
  return read
    .split('\n')
    .slice(0, -1)
    .filter((text) => text.startsWith('{'))
    .map((text) => JSON.parse(text) as Json)
}

const find = (read: string, test: (json: Json) => boolean): Json | undefined => jsonLines(read).find(test)

/** The clients by name. */
export const STAND_INS: Readonly<Record<string, Kind>> = {
  zot: {
    program: 'zot',
    argv: ({ session }) => ['rpc', '--session', session],
    ask: ({ text }) => line({ id: '1', type: 'prompt', message: text }),
    cancel: () => line({ id: '2', type: 'abort' }),
    ending(read) {
      if (!find(read, ({ type }) => type === 'done')) return undefined
      const aborted = find(read, ({ type, stop }) => type === 'turn_end' && stop === 'aborted')
      const failed = find(read, ({ type }) => type === 'error')
      return aborted ? 'cancelled' : failed ? 'failed' : 'completed'
    },
  },
  zene: {
    program: 'zene',
    argv: () => ['host', '--protocol', 'v1', '--single-request', 'false'],
    ask: ({ text, session }) => line({ type: 'run', request_id: 'r1', session_id: session, prompt: text }),
    cancel: ({ session }) => line({ type: 'cancel', request_id: 'r2', session_id: session, target_request_id: 'r1' }),
    ending(read) {
      const final = find(read, ({ type, request_id }) => (type === 'final' || type === 'error') && request_id === 'r1')
      if (!final) return undefined
      return final['status'] === 'OK' ? 'completed' : final['status'] === 'CANCELED' ? 'cancelled' : 'failed'
    },
  },
  qwen: {
    program: 'qwen',
    argv: () => ['--input-format', 'stream-json', '--output-format', 'stream-chunk-json'],
    ask: ({ text, session }) =>
      line({ session_id: session, prompt_id: 'p1', input: { origin: 'user', parts: [{ type: 'text', text }] } }),
    cancel: ({ session }) => line({ type: 'control/cancel', session_id: session, prompt_id: 'p1' }),
    ending(read) {
      if (find(read, ({ event }) => event === 'USER_CANCELLED')) return 'cancelled'
      if (find(read, ({ error }) => error !== undefined)) return 'failed'
      const last = (json: Json): boolean =>
        ((json['choices'] ?? []) as { finish_reason?: unknown }[]).some(({ finish_reason }) => finish_reason === 'stop')
      return find(read, last) ? 'completed' : undefined
    },
  },
  'qwen-code': {
    program: 'qwen',
    argv: ({ session }) => ['--input-format', 'stream-json', '--output-format', 'stream-json', '--resume', session],
    ask: ({ text, asks }) =>
      (asks ? line({ type: 'control_request', request_id: 'c0', request: { subtype: 'initialize' } }) : '') +
      line({ type: 'user', session_id: '', message: { role: 'user', content: text }, parent_tool_use_id: null }),
    cancel: () => line({ type: 'control_request', request_id: 'c1', request: { subtype: 'interrupt' } }),
    ending(read) {
      const result = find(read, ({ type }) => type === 'result')
      if (!result) return undefined
      if (result['subtype'] === 'success') return 'completed'
      return (result['error'] as Json | undefined)?.['message'] === 'Operation cancelled.' ? 'cancelled' : 'failed'
    },
  },
  native: {
    program: 'native',
    argv: () => [],
    ask: ({ text, session }) => line({ type: 'turn-start', request: 'r1', input: text, session: { id: session } }),
    cancel: () => line({ type: 'turn-cancel' }),
    ending: (read) => find(read, ({ type }) => type === 'turn-end')?.['outcome'] as 'completed' | undefined,
  },
  openharness: {
    program: 'openharness',
    argv: () => [],
    ask: ({ text, session }) => CLIENTS.openharness.write({ text, session }),
    endsInput: true,
    ending(read) {
      const answer = find(read, () => true) as { response: { status: string; error?: { code: string } } } | undefined
      if (!answer) return undefined
      if (answer.response.status === 'success') return 'completed'
      return answer.response.error?.code === 'cancelled' ? 'cancelled' : 'failed'
    },
  },
  agentproc: {
    program: 'agentproc',
    argv: () => [],
    env: (asked) => CLIENTS.agentproc.env(asked),
    endsInput: true,
    // A success is told by the end of the wire alone; a cancel has no error of its own.
    ending: (read) => (/^AGENT_ERROR:"The turn was cancelled\."$/m.test(read) ? 'cancelled' : undefined),
  },
  'agentproc@0.4': {
    program: 'agentproc',
    argv: () => [],
    ask: (asked) => CLIENTS['agentproc@0.4'].write(asked).replace('}', asked.asks ? ',"permission":true}' : '}'),
    ending(read) {
      const end = find(read, ({ type }) => type === 'result' || type === 'error')
      if (!end) return undefined
      if (end['type'] === 'result') return 'completed'
      return end['message'] === 'The turn was cancelled.' ? 'cancelled' : 'failed'
    },
  },
}

/** The names of the clients, for tables. */
export const standIns = Object.keys(STAND_INS)

/** A client that has asked. */
export class StandInClient {
  readonly #kind: Kind
  readonly #asked: Asked
  readonly #request: ClientRequest
  /** All that it read so far. */
  read = ''
  /** What was said on standard error. */
  errors = ''
  /** Resolves with the exit code when the stand-in has ended, or with `undefined` when the wire broke. */
  readonly ended: Promise<number | undefined>

  /** Starts the program `front` with an agent of its own choice and asks at once. */
  constructor(url: string, front: string, agent: string, asked: Asked) {
    const kind = STAND_INS[front]!
    this.#kind = kind
    this.#asked = asked
    this.#request = request(`${url}/v1/stdio/${kind.program}`, { method: 'POST' })
    this.#request.on('error', () => {})
    this.ended = new Promise((resolve) => {
      let answered = false
      this.#request.on('response', (response) => {
        answered = true
        let rest = ''
        response.setEncoding('utf8').on('data', (text: string) => {
          const lines = (rest + text).split('\n')
          rest = lines.pop()!
          for (const one of lines) {
            const exitCode = this.#hear(JSON.parse(one) as Json)
            if (exitCode !== undefined) resolve(exitCode)
          }
        })
        response.on('error', () => {})
        response.on('close', () => resolve(undefined))
      })
      this.#request.on('close', () => {
        if (!answered) resolve(undefined)
      })
    })
    this.#say({ argv: kind.argv(asked), env: kind.env?.(asked) ?? {}, agent })
    if (kind.ask) this.#say({ in: kind.ask(asked) })
    if (kind.endsInput) this.#say({ eof: true })
  }

  /** How its turn has ended, as far as it was told. */
  get ending(): ReturnType<Kind['ending']> {
    return this.#kind.ending(this.read)
  }

  /** Cancels its turn by its protocol's own word, or where there is none by a signal. */
  cancel(): void {
    if (this.#kind.cancel) this.#say({ in: this.#kind.cancel(this.#asked) })
    else this.signal()
  }

  /** Writes to its standard output: the stand-in's input. */
  write(text: string): void {
    this.#say({ in: text })
  }

  signal(): void {
    this.#say({ signal: 'SIGTERM' })
  }

  /** Ends its input: what runs goes on. */
  endInput(): void {
    this.#say({ eof: true })
  }

  /** Goes away without a word. */
  disconnect(): void {
    this.#request.destroy()
  }

  #say(message: object): void {
    this.#request.write(line(message))
  }

  #hear(message: Json): number | undefined {
    if (typeof message['out'] === 'string') this.read += message['out']
    if (typeof message['err'] === 'string') this.errors += message['err']
    if (typeof message['ask'] === 'number') this.#say({ read: message['ask'] })
    if (typeof message['exit'] !== 'number') return undefined
    this.#request.destroy()
    return message['exit']
  }
}
