import * as v from 'valibot'
import type { BackPorts } from '../../../src/contract/index.ts'
import {
  type AgentSessionsReply,
  type Command,
  type CommandOf,
  type Fault,
  fault,
  type JsonText,
  parseObject,
  quote,
  replyData,
} from '../../../src/model/index.ts'
import { faultOfError } from '../errors.ts'
import { SessionsListed } from '../schema.ts'
import type { Changes } from './changes.ts'
import type { Connection } from './connection.ts'
import { placeOf } from './place.ts'
import type { AgentSession } from './session.ts'

/** A command that is answered with one `command-reply`. */
export type Control = Exclude<Command, { type: 'turn-start' | 'turn-cancel' | 'ask-reply' | 'foreign' }>

/** Commands about the session and what it is set to. */
export class Controls {
  readonly #connection: Connection
  readonly #session: AgentSession
  readonly #ports: BackPorts
  readonly #changes: Changes

  constructor(connection: Connection, session: AgentSession, changes: Changes, ports: BackPorts) {
    this.#connection = connection
    this.#session = session
    this.#ports = ports
    this.#changes = changes
  }

  /** Does what the command says, and emits its `command-reply`. */
  run(command: Control): void {
    switch (command.type) {
      case 'session-clear':
        this.#session.leave()
        this.#reply(command, {})
        return
      case 'session-close':
        this.#session.leave()
        this.#session.close()
        return
      case 'session-delete':
        this.#connection.handshake.whenDone(() => this.#delete(command))
        return
      case 'config-set':
        this.#configure(command)
        return
      case 'query':
        this.#query(command)
        return
      default:
        this.#reply(command, { fault: CANNOT })
    }
  }

  /** `session/delete`, of any session that the agent keeps. */
  #delete(command: CommandOf<'session-delete'>): void {
    const id = command.session?.bound
    if (id === undefined || !this.#connection.offers('delete')) {
      this.#reply(command, { fault: CANNOT })
      return
    }
    this.#session.forget(id)
    this.#connection.call('session/delete', `{"sessionId":${quote(id)}}`, (answer) => {
      this.#reply(command, answer?.kind === 'error' ? { fault: faultOfError(answer.error) } : {})
    })
  }

  /** `session/list`. */
  #list(command: CommandOf<'query'>): void {
    if (!this.#connection.offers('list')) {
      this.#reply(command, { fault: CANNOT })
      return
    }
    this.#connection.call('session/list', listParams(command.args), (answer) => {
      if (answer?.kind !== 'result') {
        this.#reply(command, { fault: answer ? faultOfError(answer.error) : this.#connection.dead! })
        return
      }
      const { success, output } = v.safeParse(SessionsListed, answer.result)
      this.#reply(command, success ? { data: replyData(listed(output)) } : { fault: UNREADABLE })
    })
  }

  #configure(command: CommandOf<'config-set'>): void {
    if (this.#session.id === undefined) {
      this.#changes.pend(command)
      this.#reply(command, {})
    } else this.#changes.set(command, (why) => this.#reply(command, why ? { fault: why } : this.#offers()))
  }

  /** The agent announces its offers with its session. */
  #query(command: CommandOf<'query'>): void {
    this.#connection.handshake.whenDone(() => {
      if (command.what === 'agent-sessions') {
        this.#list(command)
        return
      }
      const place = this.#session.place ?? placeOf(this.#connection, {}, () => {})
      this.#session.ensure({ bound: command.session?.bound, place }, (why) => {
        if (why) this.#reply(command, { fault: why })
        else this.#changes.settle((refused) => this.#answer(command, refused))
      })
    })
  }

  /** Answers a query after the configured settings were applied. If one was refused, the first turn reports it. */
  #answer(command: CommandOf<'query'>, refused: Fault | undefined): void {
    this.#session.isNew ||= refused !== undefined
    const { models } = this.#session.settings
    this.#reply(command, command.what === 'models' ? { data: JSON.stringify({ models }) } : this.#offers())
  }

  #offers(): { data: string } {
    return { data: JSON.stringify(this.#session.settings.offers) }
  }

  #reply({ exchange }: Control, answer: { data?: string; fault?: Fault }): void {
    this.#ports.emit({ turn: null, type: 'command-reply', exchange, ...answer })
  }
}

/** The parameters of `session/list`. */
function listParams(args: JsonText | undefined): JsonText {
  const { cwd, before } = parseObject(args ?? '{}') ?? {}
  return JSON.stringify({ ...(cwd !== undefined && { cwd }), ...(before !== undefined && { cursor: before }) })
}

/** The sessions that an agent lists. */
function listed({ sessions, nextCursor }: v.InferOutput<typeof SessionsListed>): AgentSessionsReply {
  return {
    sessions: sessions.map(({ sessionId: id, cwd, title, updatedAt }) => {
      const usedAt = Date.parse(updatedAt ?? '')
      return {
        id,
        ...(cwd != null && { cwd }),
        ...(title != null && { title }),
        ...(!Number.isNaN(usedAt) && { usedAt }),
      }
    }),
    ...(nextCursor != null && { next: nextCursor }),
  }
}

const UNREADABLE = fault('protocol-violation', 'The agent lists its sessions in a form that cannot be read.')
const CANNOT = fault('invalid-request', 'An agent of this protocol cannot do this.')
