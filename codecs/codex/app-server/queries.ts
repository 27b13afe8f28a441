import * as v from 'valibot'
import type { BackPorts } from '../../../src/contract/index.ts'
import {
  type AgentSessionsReply,
  type CommandOf,
  type Fault,
  fault,
  type Id,
  type JsonText,
  parseObject,
  replyData,
} from '../../../src/model/index.ts'
import { refusalOf } from '../errors.ts'
import { Models, ThreadsListed } from '../schema.ts'
import { type AppServer, texts } from './server.ts'

/** Asks the agent what belongs to no turn: its models, its threads, and to delete a thread. */
export class Queries {
  readonly #server: AppServer
  readonly #ports: BackPorts
  readonly #waiting = new Set<Id>()

  constructor(server: AppServer, ports: BackPorts) {
    this.#server = server
    this.#ports = ports
  }

  /** Asks the agent. */
  ask({ exchange, what, args }: CommandOf<'query'>): void {
    if (what === 'agent-sessions')
      this.#call(exchange, 'thread/list', listParams(args), (result) => this.#threads(exchange, result))
    else if (what === 'models') this.#call(exchange, 'model/list', '{}', (result) => this.#list(exchange, result))
    else
      this.#fail(
        exchange,
        fault('invalid-request', 'An agent of the protocol codex can only be asked for its models and its threads.'),
      )
  }

  /** Has the agent delete a thread that the gateway remembers, whichever process had it. */
  delete({ exchange, session }: CommandOf<'session-delete'>): void {
    const params = texts({ threadId: session?.bound ?? '' })
    this.#call(exchange, 'thread/delete', params, () => this.#done(exchange, undefined))
  }

  /** The process is gone, and with it the answers. */
  end(reason: Fault): void {
    for (const exchange of this.#waiting) this.#fail(exchange, reason)
  }

  #call(exchange: Id, method: string, params: JsonText, take: (result: unknown) => void): void {
    this.#waiting.add(exchange)
    this.#server.handshake.whenDone(() => {
      if (this.#server.dead) this.#fail(exchange, this.#server.dead)
      else {
        this.#server.call(method, params, (answer) => {
          if (answer.kind === 'error') this.#fail(exchange, refusalOf(answer.error))
          else take(answer.result)
        })
      }
    })
  }

  #list(exchange: Id, result: unknown): void {
    if (v.is(Models, result)) {
      this.#done(exchange, replyData({ models: result.data.map(({ model }) => ({ id: model })) }))
    } else {
      const text = 'The agent listed its models in a form that cannot be read.'
      this.#fail(exchange, fault('protocol-violation', text))
    }
  }

  #threads(exchange: Id, result: unknown): void {
    const { success, output } = v.safeParse(ThreadsListed, result)
    if (success) this.#done(exchange, replyData(listed(output)))
    else
      this.#fail(exchange, fault('protocol-violation', 'The agent listed its threads in a form that cannot be read.'))
  }

  #done(exchange: Id, data: JsonText | undefined): void {
    this.#waiting.delete(exchange)
    this.#ports.emit({ turn: null, type: 'command-reply', exchange, ...(data !== undefined && { data }) })
  }

  #fail(exchange: Id, reason: Fault): void {
    this.#waiting.delete(exchange)
    this.#ports.emit({ turn: null, type: 'command-reply', exchange, fault: reason })
  }
}

/** The parameters of `thread/list`. */
function listParams(args: JsonText | undefined): JsonText {
  const { cwd, before } = parseObject(args ?? '{}') ?? {}
  return JSON.stringify({ ...(cwd !== undefined && { cwd }), ...(before !== undefined && { cursor: before }) })
}

/** The threads that an agent lists; one without a name has the beginning of its first prompt. */
function listed({ data, nextCursor }: v.InferOutput<typeof ThreadsListed>): AgentSessionsReply {
  return {
    sessions: data.map(({ id, cwd, name, preview, updatedAt }) => {
      const title = name || preview
      return { id, cwd, ...(title && { title }), usedAt: updatedAt * 1000 }
    }),
    ...(nextCursor && { next: nextCursor }),
  }
}
