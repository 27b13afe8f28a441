import type { Store } from '../../contract/index.ts'
import {
  type Answered,
  type Command,
  type CommandOf,
  type Ext,
  type Fault,
  fault,
  type Id,
  type Target,
} from '../../model/index.ts'
import { dropped } from '../carry/index.ts'
import type { ClientAccess, ClientLink, Exchange } from '../client/index.ts'
import { LOST } from '../common/index.ts'
import { numbered } from '../events/index.ts'
import { type PastHost, type Recorder, readTurn, showPast } from '../record/index.ts'
import type { LiveTurns } from '../session/index.ts'
import { type AskAnswered, join, mismatchOf, type Turn } from '../turn/index.ts'
import { principalOf } from './entry.ts'
import { InOrder } from './in-order.ts'
import { maySee, viewerOf } from './lists.ts'
import {
  applyChange,
  changeFor,
  refusalOfChange,
  reportExt,
  reportSettings,
  type TurnChange,
} from './settings-change.ts'

/** For a command about a turn or a question that is over. */
const GONE = fault('invalid-request', 'It is not running or not open here; it has ended, or was answered already.')
const UNKNOWN = fault('session-not-found', 'There is no such turn; it may have been deleted, or belong to another key.')

const RUNS = fault('session-busy', 'The turn still runs; cancel it first.')

/** The place in a turn at which it was parked under a token. */
interface ParkedAt {
  turn: Id
  seq: number
  asks: readonly Id[]
  /** The questions that were settled since: by whom, with which option, if one was chosen, and after which park. */
  settled: ReadonlyMap<Id, { how: string; by?: string; option?: string; park: number }>
}

type TurnCommand = CommandOf<'turn-cancel' | 'turn-follow' | 'turn-steer' | 'turn-delete' | 'ask-reply'>

/** The commands about a turn that was started before: each finds its turn by the client's name for it. */
export class TurnCommands {
  readonly #host: PastHost
  readonly #store: Store
  readonly #turns: LiveTurns
  readonly #recorder: Recorder
  /** Answers to the questions of each parked turn. */
  readonly #answers = new InOrder<string>()

  constructor(host: PastHost, turns: LiveTurns, recorder: Recorder) {
    this.#host = host
    this.#store = host.store
    this.#turns = turns
    this.#recorder = recorder
  }

  static takes(command: Command): command is Command & TurnCommand {
    return ['turn-cancel', 'turn-follow', 'turn-steer', 'turn-delete', 'ask-reply'].includes(command.type)
  }

  /** Runs the command. */
  async run(client: ClientLink, command: Command & TurnCommand, exchange: Exchange | undefined): Promise<void> {
    if (command.type === 'turn-delete') return this.#delete(command.id, client.options.access.tenant, exchange)
    const meant = client.exchangeOf(command.target)
    const own = meant?.turn && this.#turns.get(meant.turn.id)
    const { access } = client.options
    const turn = own ?? this.#turns.find(access.tenant, command.target, command.session?.id)
    switch (command.type) {
      case 'turn-cancel':
        return answered(exchange, (meant ?? turn)?.cancel())
      case 'turn-steer':
        return acknowledged(exchange, !turn || turn.ended ? GONE : turn.tellAgent(command))
      case 'turn-follow':
        if (exchange) await this.#follow(client, command.target, turn ?? this.#seen(access, command.target), exchange)
        return
      case 'ask-reply':
        await this.#answer(client, command, turn, exchange)
    }
  }

  /** True for an answer to a parked turn that has ended without one because its gateway was stopped. */
  async isLost(tenant: string, command: Command & TurnCommand): Promise<boolean> {
    const target = targetOf(command)
    if (typeof target !== 'object' || !('continuation' in target)) return false
    const turn = turnOf(target.continuation)
    if (this.#turns.get(turn)) return false
    await this.#recorder.flush()
    const record = await readTurn(this.#store, turn, this.#host.now())
    if (record?.tenant !== tenant || record.outcome !== 'failed' || record.code !== LOST.code) return false
    const parked = await this.#parkedAt(target.continuation)
    // Those that were open when its process ended are not settled.
    return parked?.asks.every((ask) => (parked.settled.get(ask)?.how ?? 'cancelled') === 'cancelled') === true
  }

  /** A turn that runs, of another key, for those who may see it. */
  #seen(access: ClientAccess, target: Target): Turn | undefined {
    const turn = typeof target === 'object' && 'turn' in target ? this.#turns.get(target.turn) : undefined
    return maySee(viewerOf(access), turn?.session.record) ? turn : undefined
  }

  /** Shows the whole turn, from its first event on. */
  async #follow(client: ClientLink, target: Target, turn: Turn | undefined, exchange: Exchange): Promise<void> {
    if (turn) {
      client.scope.shares?.('followed', turn.scope.carrier)
      return join(turn, exchange, 0)
    }
    const id = typeof target === 'object' && 'turn' in target ? target.turn : undefined
    await this.#showPast(client, id, 0, exchange)
  }

  /**
   * Forgets an ended turn of the tenant. A parked one waits only for the client that deletes it, so it is cancelled.
   */
  async #delete(id: Id, tenant: string, exchange: Exchange | undefined): Promise<void> {
    const live = this.#turns.get(id)
    if (live?.questions?.parked && live.session.record.tenant === tenant) await cancelled(live)
    await this.#recorder.flush()
    const record = await readTurn(this.#store, id, this.#host.now())
    if (this.#turns.get(id)?.session.record.tenant === tenant) return refused(exchange, RUNS)
    if (record?.tenant !== tenant) return refused(exchange, UNKNOWN)
    if (record.outcome === undefined) return refused(exchange, RUNS)
    // An old turn may be pruned meanwhile, which leaves its messages in the transcript.
    if (!(await this.#store.deleteTurn(id))) return refused(exchange, UNKNOWN)
    answered(exchange, true)
  }

  /** An answer to a question; one that comes with the token of a parked turn brings an exchange for the rest of it. */
  async #answer(
    client: ClientLink,
    command: CommandOf<'ask-reply'>,
    turn: Turn | undefined,
    exchange: Exchange | undefined,
  ): Promise<void> {
    const { target } = command
    if (typeof target !== 'object' || !('continuation' in target)) {
      const became = turn?.answer(command, principalOf(client)) ?? 'gone'
      if (became === 'taken') {
        reportExt(turn!, command)
        reportSettings(turn!, command)
      }
      return answered(exchange, became === 'taken', refusalOf(became))
    }
    // Answers that come at the same time are taken one after the other: each sees what the one before has decided.
    const { continuation } = target
    const past = await this.#answers.run(turnOf(continuation), () =>
      this.#goOn(client, command, continuation, exchange),
    )
    if (past && exchange) await this.#showPast(client, past.turn, past.seq, exchange)
  }

  /** Goes on with a parked turn. Returns the event from which the exchange is shown the rest, if any. */
  async #goOn(
    client: ClientLink,
    command: CommandOf<'ask-reply'>,
    continuation: string,
    exchange: Exchange | undefined,
  ): Promise<ParkedAt | undefined> {
    const parked = await this.#parkedAt(continuation)
    if (!parked) return refused(exchange, UNKNOWN)
    if (!command.also && contradicts(command, parked)) return refused(exchange, GONE)
    if (exchange) reportLate(exchange, command, parked)
    const turn = this.#waiting(client.options.access.tenant, command, parked)
    const change = turn && changeFor(turn, command)
    const lossy = turn && refusalOfChange(turn, change)
    if (lossy) return refused(exchange, lossy)
    if (turn) client.scope.shares?.('answered', turn.scope.carrier)
    if (exchange && turn) await join(turn, exchange, turn.questions!.parked!.seq)
    if (exchange?.ended) return undefined
    const about = { by: principalOf(client), echo: exchange?.answer.echo, change }
    if (turn && answerAll(turn, command, parked.asks, about)) return undefined
    // Nobody waits for it any longer: the state of the turn is the answer.
    const now = (await this.#parkedAt(continuation))!
    if (contradicts(command, now)) return refused(exchange, GONE)
    // The same question may have been asked again before its answer: the rest begins after the last time.
    return turn ? undefined : { ...now, seq: now.settled.get(meantIn(command, now))?.park ?? now.seq }
  }

  /**
   * The parked turn, if one of the answers is to a question that is still open. That may have been asked again since
   * this park: an answer counts then too, while one that does not fit gets what the one before it got.
   */
  #waiting(tenant: string, command: CommandOf<'ask-reply'>, { turn: id, seq, asks }: ParkedAt): Turn | undefined {
    const turn = this.#turns.find(tenant, { turn: id })
    const park = turn?.questions?.parked
    if (!park) return undefined
    const fits = (one: Answered): boolean => {
      const meant = meantBy(one, asks) ?? park.asks[0]!.ask
      const open = park.asks.find(({ ask }) => ask === meant)
      return open !== undefined && (park.seq === seq || mismatchOf(open.question, one.reply) === undefined)
    }
    return [command, ...(command.also ?? [])].some(fits) ? turn : undefined
  }

  /** Finds in the turn's record the event at which it was parked under this token. */
  async #parkedAt(continuation: string): Promise<ParkedAt | undefined> {
    const turn = turnOf(continuation)
    await this.#recorder.flush()
    let found: ParkedAt | undefined
    let park = 0
    const settled = new Map<Id, { how: string; by?: string; option?: string; park: number }>()
    for (const { seq, event } of numbered(await this.#store.readEvents(turn, 0), 0)) {
      if (event.type === 'turn-parked') {
        park = seq
        if (event.continuation === continuation) {
          found = { turn, seq, asks: event.asks.map(({ ask }) => ask), settled }
        }
      } else if (found && event.type === 'ask-settled') settled.set(event.ask, { ...event, park })
    }
    return found
  }

  async #showPast(client: ClientLink, id: string | undefined, after: number, exchange: Exchange): Promise<void> {
    const record = id === undefined ? undefined : await this.#store.readTurn(id)
    if (!record || !maySee(viewerOf(client.options.access), record)) return exchange.fail(UNKNOWN)
    const session = (await this.#store.readSession(record.session))?.session ?? ''
    await showPast(this.#host, { record, session, after, request: record.request }, exchange)
  }
}

/** Cancels a turn. Resolves when it has its end. */
function cancelled(turn: Turn): Promise<void> {
  return new Promise((resolve) => {
    turn.signal.addEventListener('abort', resolve)
    turn.cancel()
  })
}

/** The turn that a command is about. */
export function targetOf(command: TurnCommand): Target {
  return command.type === 'turn-delete' ? { turn: command.id } : command.target
}

/** The turn that was parked under a token. */
export function turnOf(continuation: string): Id {
  return continuation.slice(0, continuation.lastIndexOf('.'))
}

/** The id of no question. */
const NONE: Id = ''

/** The question that an answer is for, by its id or its place; undefined when it has neither. */
function meantBy({ ask, at }: Pick<Answered, 'ask' | 'at'>, asks: readonly Id[]): Id | undefined {
  return ask ?? (at === undefined ? undefined : (asks[at] ?? NONE))
}

/**
 * Gives a parked turn the options and the text of a request, then all its answers: with the last answer the agent goes
 * on. False when none of its questions is open any more.
 */
function answerAll(
  turn: Turn,
  command: CommandOf<'ask-reply'>,
  asks: readonly Id[],
  { by, echo, change }: { by: string; echo: Ext | undefined; change: TurnChange | undefined },
): boolean {
  const { ask, at, reply, also = [], ...rest } = command
  const answers = [{ ask, at, reply }, ...also].map((one) => ({ meant: meantBy(one, asks), reply: one.reply }))
  const open = turn.questions?.parked?.asks ?? []
  if (answers.some(({ meant }) => meant === undefined || open.some((one) => one.ask === meant))) {
    if (change) applyChange(turn, change)
    reportExt(turn, command)
    sayBesides(turn, command)
  }
  const became: AskAnswered[] = []
  for (const { meant, reply } of answers) {
    const answer = { ...rest, reply, ...(meant !== undefined && { ask: meant }) }
    became.push(turn.answer(answer, by, became.includes('taken') ? undefined : echo))
  }
  return became.some((what) => what !== 'gone')
}

/** Gives the agent the text of a request besides its answers, if the agent takes input while it works. */
function sayBesides(turn: Turn, { exchange, input }: CommandOf<'ask-reply'>): void {
  if (input && turn.tellAgent({ exchange, input })) turn.loss(dropped('turn-steer'))
}

function refused(exchange: Exchange | undefined, why: Fault): undefined {
  exchange?.fail(why)
}

/** Answers a command if the client waits for an answer: done, or the reason why not. */
function answered(exchange: Exchange | undefined, done: boolean | undefined, why = GONE): void {
  exchange?.reply(done ? {} : { fault: why })
}

/** Answers a command that goes to an agent: with success, or with the refusal. */
function acknowledged(exchange: Exchange | undefined, refusal: Fault | undefined): void {
  answered(exchange, refusal === undefined, refusal)
}

function refusalOf(became: AskAnswered): Fault {
  return typeof became === 'string' ? GONE : fault('invalid-request', became.mismatch)
}

/** The question has another answer already; a request that repeats the first one only asks for the outcome. */
function contradicts(command: CommandOf<'ask-reply'>, parked: ParkedAt): boolean {
  const { reply } = command
  const meant = meantIn(command, parked)
  if (!parked.asks.includes(meant)) return true
  const settled = parked.settled.get(meant)
  return settled?.how === 'answered' && reply.kind === 'approval' && reply.option !== settled.option
}

/** Reports the answers to questions that were settled without them: the turn has gone on, and they reach no agent. */
function reportLate(exchange: Exchange, command: CommandOf<'ask-reply'>, { asks, settled }: ParkedAt): void {
  const answers = [command, ...(command.also ?? [])]
  const late = answers.filter((one) => {
    const { how, by } = settled.get(meantBy(one, asks) ?? asks[0]!) ?? {}
    return how !== undefined && (how !== 'answered' || by === 'policy')
  })
  if (late.length > 0) exchange.lost({ ...dropped('ask-reply', late.length), why: 'policy' }, 'request')
  // What comes with them is then for nobody either.
  if (late.length === answers.length && command.input) exchange.lost(dropped('turn-steer'), 'request')
}

/** The question that an answer under a token is for: the first one, if it does not say. */
function meantIn(command: CommandOf<'ask-reply'>, { asks }: ParkedAt): Id {
  return meantBy(command, asks) ?? asks[0]!
}
