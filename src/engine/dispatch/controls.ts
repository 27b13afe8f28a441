import type { SessionRecord, Store } from '../../contract/index.ts'
import {
  type CommandOf,
  type Ext,
  type Fault,
  fault,
  type Item,
  type JsonText,
  members,
  object,
  type QueryWhat,
  quote,
} from '../../model/index.ts'
import type { CommandReply, Replies } from '../agent/index.ts'
import type { ClientLink, Exchange } from '../client/index.ts'
import type { AgentSettings } from '../common/index.ts'
import type { LiveSession, LiveTurns, Sessions, Watches } from '../session/index.ts'
import type { InOrder } from './in-order.ts'
import { offersAsSet } from './offers-as-set.ts'
import { type ControlCommand, type ControlContext, isBusy, OwnControls, type Subject } from './own-controls.ts'
import { BUSY, SessionChanges } from './session-changes.ts'

const UNANSWERED = fault('internal', 'The agent did not answer in time, so its mode is not known; set it again.')

const ADMINS_ALONE = fault('forbidden', "Only an administrator's key may list the sessions that an agent keeps itself.")

/** The time that an agent has for a question that the gateway could answer itself, in milliseconds. */
const ANSWER_MS = 3000

/** The answer to a command. */
interface Answered {
  data?: JsonText
  fault?: Fault
  ext?: Ext
}

/** The parts of the gateway that commands without a turn work with. */
export interface ControlPeers {
  store: Store
  sessions: Sessions
  turns: LiveTurns
  watches: Watches
  /** Commands that agents are to answer. */
  replies: Replies
  /** The steps of each client. */
  order: InOrder<ClientLink>
}

/**
 * Handles the commands that need no turn. The session's live agent gets them where its protocol has them; a question
 * about the agent itself may go to another of its processes, which is started if there is room. Other commands are
 * served by the gateway if it can, else refused. Each ends its exchange with one `command-reply`.
 */
export class Controls {
  readonly #store: Store
  readonly #sessions: Sessions
  readonly #replies: Replies
  readonly #order: InOrder<ClientLink>
  readonly #changes: SessionChanges
  readonly #own: OwnControls

  constructor(peers: ControlPeers) {
    this.#store = peers.store
    this.#sessions = peers.sessions
    this.#replies = peers.replies
    this.#order = peers.order
    this.#changes = new SessionChanges(peers.store)
    this.#own = new OwnControls(peers, this.#changes)
  }

  /**
   * Runs the command once the turns that its client has requested before it have begun. What it changes holds for the
   * turns that the client requests after it.
   */
  async run(
    client: ClientLink,
    command: ControlCommand,
    context: ControlContext,
    exchange: Exchange | undefined,
  ): Promise<void> {
    const subject = await this.#order.run(client, () => this.#inOrder(command, context, exchange))
    if (!subject) return
    if (command.type === 'session-clear' && isBusy(subject)) {
      // The agent has confirmed it, and continues the conversation of its session.
      exchange?.reply({ fault: BUSY })
      return
    }
    if (command.type === 'session-delete') await this.#deleteByAgent(command, context)
    const answer = exchange && (await this.#byAgent(command, context, subject))
    if (answer) exchange.reply(answer)
    else await this.#own.serve(command, context, subject, exchange)
  }

  /**
   * The session that the command means; undefined when the gateway has done the command, because it changes what the next
   * turn of the session finds, and no agent has to be asked.
   */
  async #inOrder(
    command: ControlCommand,
    context: ControlContext,
    exchange: Exchange | undefined,
  ): Promise<Subject | undefined> {
    // A client may ask for it within the end of its turn, which is recorded when that step is done.
    await undefined
    const subject = await this.#subjectOf(command, context)
    if (!changesSession(command, subject)) return subject
    await this.#own.serve(command, context, subject, exchange)
    return undefined
  }

  /** The session that the command means; asking for one does not make it. */
  async #subjectOf(command: ControlCommand, { tenant, agent }: ControlContext): Promise<Subject> {
    const { id: session, conversation = '' } = (needsSession(command) && command.session) || {}
    if (session === undefined) return {}
    const record = await this.#store.findSession({ tenant, agent: agent.name, session, conversation })
    const live = record && this.#sessions.live.get(record.id)
    live?.adopt(record!)
    return { record, live }
  }

  /** Has an agent that keeps sessions delete its own. The gateway deletes its record whatever the agent answers. */
  async #deleteByAgent(command: CommandOf<'session-delete'>, { settings, tenant }: ControlContext): Promise<void> {
    const record = await this.#store.readSession(command.id)
    const agent = record?.tenant === tenant && settings.agents.get(record.agent)
    if (!agent || record.bound === undefined || agent.dialect.back.capabilities['session-delete'] === 'none') return
    const live = this.#sessions.live.get(record.id)
    if (isBusy({ record, live })) return
    const told = { ...command, session: { bound: record.bound } }
    if (live && canTake(live, told)) {
      const replied = this.#replies.wait(told.exchange, ANSWER_MS)
      live.link!.send(told)
      await replied
    } else await this.#sessions.ask(agent, told, ANSWER_MS)
  }

  /** The agent's answer; undefined when the gateway is to serve the command itself. */
  async #byAgent(
    command: ControlCommand,
    context: ControlContext,
    { live, record }: Subject,
  ): Promise<Answered | undefined> {
    if (live && canTake(live, command)) {
      if (command.type !== 'session-close') return this.#handOver(command, context, live)
      // Not every protocol answers it, and the session is given up whatever the agent answers.
      live.link?.send(wordedFor(command, live))
    }
    if (command.type !== 'query' || !isOfAgent(command, context.agent, record)) return undefined
    // They may be those of anybody who uses the agent.
    if (command.what === 'agent-sessions' && !context.admin) return { fault: ADMINS_ALONE }
    return this.#askAgent(command, context, record)
  }

  /** Gives the command to the session's live agent, whose answer is put in the client's words. */
  async #handOver(command: ControlCommand, { at }: ControlContext, live: LiveSession): Promise<Answered | undefined> {
    const link = live.link!
    const replied = this.#replies.wait(command.exchange, ANSWER_MS)
    link.send(wordedFor(command, live))
    const reply = await replied
    if (!reply) return command.type === 'config-set' && command.mode !== undefined ? { fault: UNANSWERED } : undefined
    if (!reply.fault) await this.#changes.done(command, live, link, at)
    return inClientsWords(reply, command)
  }

  /** Asks any process of the agent, without the session, which it does not know. */
  async #askAgent(
    command: CommandOf<'query'>,
    context: ControlContext,
    record: SessionRecord | undefined,
  ): Promise<Answered | undefined> {
    const { session: _, ...question } = command
    const isOfNoSession = command.what === 'models' || command.what === 'agent-sessions'
    const other = isOfNoSession ? this.#sessions.live.idleOf(context.agent) : undefined
    if (other && canTake(other, question)) return this.#handOver(question, context, other)
    // Nobody else knows what it offers: it has the time that it may take to start.
    const timeMs = command.what === 'offers' ? context.agent.limits.start : ANSWER_MS
    const reply = await this.#sessions.ask(context.agent, question, timeMs)
    if (reply?.fault && command.what === 'agent-sessions') return { fault: reply.fault }
    if (!reply || reply.fault) return undefined
    if (command.what !== 'offers' || reply.data === undefined) return inClientsWords(reply, command)
    return { ...reply, data: offersAsSet(reply.data, record?.settings) }
  }
}

/** True when the session's live agent has the command. */
function canTake({ link }: LiveSession, command: ControlCommand): boolean {
  const item: Item = command.type === 'query' ? `query.${command.what}` : command.type
  return link?.persistent === true && link.ready && link.agent.dialect.back.capabilities[item] !== 'none'
}

/** True for a change of the session's record that its agent has no part in. */
function changesSession(command: ControlCommand, subject: Subject): boolean {
  if (subject.live && canTake(subject.live, command)) return false
  return command.type === 'config-set' || (command.type === 'session-clear' && !isBusy(subject))
}

/** The command with the names that the session's agent has for it. */
function wordedFor(command: ControlCommand, { names, record: { bound } }: LiveSession): ControlCommand {
  return { ...command, session: { ...command.session, ...names, ...(bound !== undefined && { bound }) } }
}

/** Questions that any process of an agent answers. */
const OF_ANY_PROCESS: ReadonlySet<QueryWhat> = new Set(['models', 'offers', 'hints', 'agent-sessions'])

/** Questions that the session's agent answers, where it lives. */
const OF_SESSIONS: ReadonlySet<QueryWhat> = new Set(['messages', 'state', 'models', 'offers', 'hints'])

/** Other queries are about the gateway or an agent and need no session, and a copy is a session that is not there yet. */
function needsSession(command: ControlCommand): boolean {
  if (command.type !== 'query') return command.type !== 'session-fork'
  return OF_SESSIONS.has(command.what) || (command.what === 'session' && command.args === undefined)
}

/**
 * True for what a process without a conversation knows: its models and hints, and the state of a session that has not
 * begun. For one that has begun, the gateway's record knows more.
 */
function isOfAgent({ what }: CommandOf<'query'>, agent: AgentSettings, record: SessionRecord | undefined): boolean {
  if (agent.target.kind !== 'process' || agent.dialect.back.capabilities[`query.${what}`] === 'none') return false
  return OF_ANY_PROCESS.has(what) || (what === 'state' && record === undefined)
}

/** A reply in which the state of the session, as the agent reports it, is under the name that the client has for it. */
function inClientsWords(reply: CommandReply, command: ControlCommand): Answered {
  const { data, fault } = reply
  if (data === undefined || fault || command.type !== 'query' || command.what !== 'state') return reply
  const session = quote(command.session?.id ?? '')
  return {
    ...reply,
    data: object(members(data).map(([key, json]) => [key, key === 'session' ? session : json] as const)),
  }
}
