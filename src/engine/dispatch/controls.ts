import type { Awaitable, SessionRecord, Store } from '../../contract/index.ts'
import type { Item } from '../../model/index.ts'
import {
  type Command,
  type CommandOf,
  type Fault,
  fault,
  type Id,
  type JsonText,
  type LinkEvent,
  members,
  object,
  type QueryWhat,
  quote,
  type TurnStart,
} from '../../model/index.ts'
import type { Exchange } from '../client/index.ts'
import type { AgentSettings, EngineSettings } from '../common/index.ts'
import type { LiveSession, LiveTurns, Sessions, Watches } from '../session/index.ts'
import { answerQuery, followsTurns } from './queries.ts'
import { BUSY, SessionChanges } from './session-changes.ts'

/** Every command that neither starts a turn nor is about one. */
export type ControlCommand = Exclude<
  Command,
  TurnStart | { type: 'turn-cancel' | 'turn-follow' | 'turn-steer' | 'ask-reply' }
>

/** Origin and agent of a control command. */
export interface ControlContext {
  settings: EngineSettings
  agent: AgentSettings
  tenant: string
  allowed?: readonly string[]
  /** Milliseconds since the epoch. */
  at: number
}

const FAILED = fault('internal', 'The gateway could not do this; see its log.')
const UNANSWERED = fault('internal', 'The agent did not answer in time, so its mode is not known; set it again.')

/** The time that an agent has for a question that the gateway could answer itself, in milliseconds. */
const ANSWER_MS = 3000

/** A command that an agent is to answer: what is done when it does not, and what follows when it has done it. */
interface Waiting {
  exchange: Exchange
  instead: NodeJS.Timeout
  done(): Promise<void>
  /** Puts the agent's answer in the client's words. */
  read(data: JsonText): JsonText
}

const AS_IT_IS = (data: JsonText): JsonText => data

/**
 * The commands that need no turn: handed to the session's live agent where its protocol has them; what is asked of the agent
 * itself to another process of it, started for that where there is room. Else they are served by the gateway where it
 * can, else refused. Each ends its exchange with one `command-reply`.
 */
export class Controls {
  readonly #store: Store
  readonly #sessions: Sessions
  readonly #turns: LiveTurns
  readonly #watches: Watches
  readonly #changes: SessionChanges
  readonly #waiting = new Map<Id, Waiting>()

  constructor(store: Store, sessions: Sessions, turns: LiveTurns, watches: Watches) {
    this.#watches = watches
    this.#store = store
    this.#changes = new SessionChanges(store)
    this.#sessions = sessions
    this.#turns = turns
  }

  /** Does what the command says. */
  async run(command: ControlCommand, context: ControlContext, exchange: Exchange | undefined): Promise<void> {
    const id = needsSession(command) ? command.session?.id : undefined
    const record = id === undefined ? undefined : await this.#record(id, command, context)
    const live = record && this.#sessions.get(record.id)
    if (command.type === 'session-clear' && live?.busy) {
      // An agent that says that it has done this goes on with the conversation that its turn holds.
      exchange?.reply({ fault: BUSY })
      return
    }
    if (live && this.#handOver(command, context, live, exchange)) return
    if (exchange && command.type === 'query' && isOfAgent(command, context.agent, record)) {
      if (await this.#askAgent(command, context, exchange)) return
    }
    await this.#serve(command, context, record, live, exchange)
  }

  /** Asks any process of the agent; true when it answers. It is not told which session is meant: it knows none. */
  async #askAgent(command: CommandOf<'query'>, context: ControlContext, exchange: Exchange): Promise<boolean> {
    const { session, ...question } = command
    const other = command.what === 'models' ? this.#sessions.idle(context.agent) : undefined
    if (other && this.#handOver(question, context, other, exchange)) return true
    const reply = await this.#sessions.ask(context.agent, question, ANSWER_MS)
    if (!reply || reply.fault) return false
    const { data } = reply
    const isState = data !== undefined && command.what === 'state'
    exchange.reply(isState ? { ...reply, data: inClientsWords(data, session?.id ?? '') } : reply)
    return true
  }

  /** The agent answered a command that was handed to it. */
  reply(event: Extract<LinkEvent, { type: 'command-reply' }>): void {
    const waiting = this.#waiting.get(event.exchange)
    if (!waiting) return
    clearTimeout(waiting.instead)
    this.#waiting.delete(event.exchange)
    const { exchange, done, read } = waiting
    if (event.fault) {
      exchange.reply(event)
      return
    }
    const { data } = event
    const told = data === undefined ? event : { ...event, data: read(data) }
    done().then(
      () => exchange.reply(told),
      () => exchange.fail(FAILED),
    )
  }

  /** The session that the command means; asking for one does not make it. */
  #record(
    session: string,
    command: ControlCommand,
    { tenant, agent }: ControlContext,
  ): Awaitable<SessionRecord | undefined> {
    const conversation = command.session?.conversation ?? ''
    return this.#store.findSession({ tenant, agent: agent.name, session, conversation })
  }

  /** Gives the command to the live agent when its protocol has it; the gateway serves it when the answer does not come. */
  #handOver(
    asked: ControlCommand,
    context: ControlContext,
    live: LiveSession,
    exchange: Exchange | undefined,
  ): boolean {
    const { link, names } = live
    const { bound } = live.record
    const session = { ...asked.session, ...names, ...(bound !== undefined && { bound }) }
    const command: ControlCommand = { ...asked, session }
    const item: Item = command.type === 'query' ? `query.${command.what}` : command.type
    if (!exchange || !link?.persistent || !link.ready) return false
    if (link.agent.dialect.back.capabilities[item] === 'none') return false
    if (command.type === 'session-close') {
      // Not every protocol answers it, and the session is given up whatever the agent says.
      link.send(command)
      return false
    }
    const timer = setTimeout(() => {
      this.#waiting.delete(exchange.id)
      const served =
        command.type === 'config-set' && command.mode !== undefined
          ? Promise.resolve(exchange.reply({ fault: UNANSWERED }))
          : this.#serve(asked, context, live.record, live, exchange)
      served.catch(() => exchange.fail(FAILED))
    }, ANSWER_MS)
    const isState = asked.type === 'query' && asked.what === 'state'
    this.#waiting.set(exchange.id, {
      exchange,
      instead: timer,
      done: () => this.#changes.done(asked, live, link, context.at),
      read: isState ? (data) => inClientsWords(data, asked.session?.id ?? '') : AS_IT_IS,
    })
    link.send(command)
    return true
  }

  async #serve(
    command: ControlCommand,
    context: ControlContext,
    record: SessionRecord | undefined,
    live: LiveSession | undefined,
    exchange: Exchange | undefined,
  ): Promise<void> {
    switch (command.type) {
      case 'query': {
        const { settings, agent, allowed, tenant } = context
        if (exchange && followsTurns(command)) {
          const full = this.#watches.add(exchange, tenant)
          if (full) exchange.reply({ fault: full })
          return
        }
        const session = command.session?.id ?? ''
        const subject = { settings, agent, allowed, tenant, session, live, record: record?.id }
        const answer = await answerQuery(
          { store: this.#store, sessions: this.#sessions, turns: this.#turns },
          command,
          subject,
        )
        exchange?.reply(typeof answer === 'string' ? { data: answer } : { fault: answer })
        return
      }
      case 'session-clear':
        exchange?.reply(await this.#changes.clear(record, live, context.at))
        return
      case 'session-close':
        if (live && !live.busy) this.#sessions.forget(live)
        exchange?.reply({})
        return
      case 'session-delete':
        exchange?.reply(await this.#delete(command.id, context.tenant))
        return
      case 'config-set':
        exchange?.reply(await this.#changes.configure(command, context, live))
        return
      default:
        exchange?.reply({
          fault: fault('invalid-request', `The agent "${context.agent.name}" has no place for "${command.type}".`),
        })
    }
  }

  /** Ends what runs in the session, then deletes everything that is kept of it. */
  async #delete(id: Id, tenant: string): Promise<{ fault?: Fault }> {
    const record = await this.#store.readSession(id)
    if (record?.tenant !== tenant) return { fault: fault('session-not-found', 'There is no such session.') }
    const live = this.#sessions.get(id)
    if (live?.busy) return { fault: BUSY }
    if (live) this.#sessions.forget(live)
    await this.#store.deleteSession(id)
    return {}
  }
}

/** Questions that the session's agent answers, where it lives. */
const OF_SESSIONS: ReadonlySet<QueryWhat> = new Set(['messages', 'state', 'models', 'hints'])

/** Other questions are about the gateway: they need no session. */
function needsSession(command: ControlCommand): boolean {
  return command.type !== 'query' || OF_SESSIONS.has(command.what)
}

/**
 * True for what a process without a conversation knows: its models and hints, and the state of a session that has not
 * begun. Of one that has, the gateway's record knows more.
 */
function isOfAgent({ what }: CommandOf<'query'>, agent: AgentSettings, record: SessionRecord | undefined): boolean {
  if (agent.target.kind !== 'process' || agent.dialect.back.capabilities[`query.${what}`] === 'none') return false
  return what === 'models' || what === 'hints' || (what === 'state' && record === undefined)
}

/** A state that an agent told of its session, under the name that the client has for it. */
function inClientsWords(data: JsonText, session: string): JsonText {
  const named = members(data).map(([key, json]) => [key, key === 'session' ? quote(session) : json] as const)
  return object(named)
}
