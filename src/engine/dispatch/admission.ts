import type { Awaitable, SessionKey, SessionRecord, TurnRecord } from '../../contract/index.ts'
import { type Command, type Fault, type TurnStart, textOf } from '../../model/index.ts'
import type { ClientLink, Exchange } from '../client/index.ts'
import { UNWRITABLE } from '../common/index.ts'
import {
  type Idempotency,
  type KeyUse,
  needsRecord,
  type Recorder,
  type StoreWatch,
  type Verdict,
} from '../record/index.ts'
import type { LiveTurns } from '../session/index.ts'
import { keepsContent, steer, type Turn } from '../turn/index.ts'
import type { Conversations } from './conversations.ts'
import type { Duplicates } from './duplicates.ts'
import { type Entry, entryOf, keyed, sessionKey } from './entry.ts'
import { type Forwarding, isRepeatable } from './forwarding.ts'
import type { InOrder } from './in-order.ts'
import type { Placement } from './placement.ts'
import type { RouteChoice } from './router.ts'
import type { SessionOpener } from './session-opener.ts'
import type { TurnStarter } from './turn-starter.ts'

/** The verdict on a request that no earlier request answers. */
const RUNS: Verdict = { do: 'run' }

/** The record, as admission reads and writes it. */
export interface AdmissionRecord {
  watch: StoreWatch
  recorder: Recorder
  idempotency: Idempotency
  turns: LiveTurns
  opener: SessionOpener
  /** Milliseconds since the epoch. */
  now(): number
}

/** The steps besides the record: the session, a place and a beginning, or the answer of another turn. */
export interface AdmissionSteps {
  conversations: Conversations
  placement: Placement
  starter: TurnStarter
  duplicates: Duplicates
  /** The limits of the client's key. */
  use: KeyUse
  /** The steps of each client. */
  order: InOrder<ClientLink>
}

/**
 * Admits a `turn-start`: checks losses and the idempotency key, opens the session and its record, finds a place, and
 * begins the turn. Any refusal ends the exchange with its fault.
 */
export class Admission {
  readonly #record: AdmissionRecord
  readonly #steps: AdmissionSteps

  constructor(record: AdmissionRecord, steps: AdmissionSteps) {
    this.#record = record
    this.#steps = steps
  }

  /** Runs the request, joins it to a turn that runs, or answers it from the record. */
  async start(client: ClientLink, asked: Command & TurnStart, choice: RouteChoice, exchange: Exchange): Promise<void> {
    const { order, duplicates } = this.#steps
    const { forwarding } = this.#record.opener
    const taken = entryOf(client, asked, choice, exchange)
    if ('code' in taken) return exchange.fail(taken)
    const { after } = asked
    if (
      forwarding &&
      client.mayLeave &&
      after !== undefined &&
      (await forwarding.ofTurn(client, asked, { turn: after }))
    )
      return
    const verdict = taken.command.once ? await this.#claim(taken) : this.#attempt(taken, asked)
    if (exchange.ended) return
    if ('code' in verdict) return exchange.fail(verdict)
    if (verdict.do !== 'run') client.settle()
    if (verdict.do !== 'run') return duplicates.answer(verdict, taken)
    return order.run(client, () => this.#admit(taken))
  }

  /** Begins a request's turn. When that goes wrong, nothing of what it has taken is kept for it. */
  async #admit(asked: Entry): Promise<void> {
    try {
      await this.#place(asked)
    } catch (error) {
      if (!asked.exchange.turn) await this.#giveUp(asked)
      throw error
    }
  }

  /** From a request that runs to its turn. The lease stays that under which its session is this process's. */
  async #place(asked: Entry): Promise<void> {
    const meant = this.#steps.conversations.find(asked)
    const entry = meant instanceof Promise ? await meant : meant
    if ('code' in entry) return this.#refuse(asked, entry)
    const at = this.#record.now()
    const opened = this.#open(entry, at)
    const record = opened instanceof Promise ? await opened : opened
    if (!record) return
    entry.client.settle()
    if ('code' in record) return this.#refuse(entry, record)
    const { turns } = this.#record
    turns.coming += 1
    try {
      await this.#begin(entry, record, at)
    } finally {
      turns.coming -= 1
    }
  }

  /** From a request with a session to its turn. */
  async #begin(entry: Entry, record: SessionRecord, at: number): Promise<void> {
    const { conversations, placement, starter, duplicates, use } = this.#steps
    const { command, exchange, client } = entry
    if (entry.settings) await this.#record.opener.inherit(record, entry.settings)
    if (entry.cwd !== undefined)
      await this.#record.opener.describe(record, entry.cwd, keepsContent(entry) ? textOf(command.input) : '')
    const parked = this.#parkedIn(record, exchange)
    // A client that brings no results has given up the calls.
    if (parked && waitsForTools(parked)) parked.cancel()
    else if (parked && exchange.answer.form !== 'accepted') {
      await conversations.giveUp(entry)
      return duplicates.askAgain(parked, entry)
    }
    const taken = use.take(client.options.access.tenant, command.turn)
    const barred = taken instanceof Promise ? await taken : taken
    const found = placement.find(entry, record, at)
    const place = found instanceof Promise ? await found : found
    if ('code' in place) return this.#refuse(entry, place)
    const judged = placement.judge(entry, place, barred)
    if (judged.do === 'run') return starter.begin(entry, place)
    use.give(command.turn)
    if (judged.do === 'refuse') return this.#refuse(entry, judged.why)
    steer(judged.turn, exchange, command)
    await this.#settle(this.#record.idempotency.handOver(keyed(entry), judged.turn.id))
  }

  /** The record of the request's session; for a request that needs it, the fault that it cannot be written. */
  #open(entry: Entry, at: number): Awaitable<SessionRecord | Fault | undefined> {
    const key = sessionKey(entry, entry.agent)
    const { forwarding } = this.#record.opener
    if (forwarding) return this.#openHere(forwarding, entry, key)
    return needsRecord(entry.command, entry.exchange) ? this.#openForSure(key, at) : this.#record.opener.record(key, at)
  }

  /** The record of a session of this replica; undefined when another one has the request. */
  async #openHere(forwarding: Forwarding, entry: Entry, key: SessionKey): Promise<SessionRecord | Fault | undefined> {
    const { watch } = this.#record
    if (!(watch.writable || (await watch.ready()))) return forwarding.unwritable
    try {
      const found = await forwarding.place(entry, key)
      if (!found || ('address' in found && !entry.client.mayLeave)) return await forwarding.bring(entry, key)
      if (!('address' in found)) {
        if ('id' in found) this.#record.recorder.touch(found.id, this.#record.now())
        return found
      }
      await this.#giveUp(entry)
      entry.client.leaveFor(found, isRepeatable(entry.command))
      return undefined
    } catch (error) {
      watch.unavailable(error)
      return forwarding.unwritable
    }
  }

  async #openForSure(key: SessionKey, at: number): Promise<SessionRecord | Fault> {
    const { watch, opener } = this.#record
    if (!(watch.writable || (await watch.ready()))) return UNWRITABLE
    const record = await opener.record(key, at)
    return watch.writable ? record : UNWRITABLE
  }

  /** The verdict on a request without a key. */
  #attempt({ client, agent }: Entry, command: Command & TurnStart): Verdict {
    if (!command.retry) return RUNS
    const { access, front } = client.options
    return this.#record.idempotency.attempt({ tenant: access.tenant, front: front.name, agent: agent.name, command })
  }

  /** Claims the request's key. */
  async #claim(entry: Entry): Promise<Verdict | Fault> {
    const { watch, recorder, idempotency, opener } = this.#record
    const { forwarding } = opener
    const { client, command } = entry
    // The request goes to the replica that runs the turn with the key, which streams it.
    const elsewhere = async (record: TurnRecord): Promise<void> => {
      if (client.mayLeave && !(await forwarding?.ofHolder(client, record, command))) client.settle()
    }
    // The verdict depends on whether the key's last answer has reached its client.
    recorder.markDelivered()
    try {
      return await idempotency.claim(keyed(entry), () => entry.exchange.unwanted, forwarding && elsewhere)
    } catch (error) {
      watch.unavailable(error)
      return forwarding?.unwritable ?? UNWRITABLE
    }
  }

  /** The parked turn of the session, for a request whose client answers its questions by its next request. */
  #parkedIn({ id }: SessionRecord, { answer }: Exchange): Turn | undefined {
    if (answer.asks !== 'next-request') return undefined
    const running = this.#record.opener.running(id)
    return running?.questions?.parked && running
  }

  /** No turn begins: the same request sent again is not a duplicate. */
  async #refuse(entry: Entry, why: Fault): Promise<void> {
    entry.exchange.fail(why)
    await this.#giveUp(entry)
  }

  async #giveUp(entry: Entry): Promise<void> {
    this.#steps.use.give(entry.command.turn)
    await this.#settle(this.#record.idempotency.giveUp(keyed(entry)))
    await this.#settle(this.#steps.conversations.giveUp(entry))
  }

  /** A write to the claims; when it fails, duplicates find out by the turn that is not there. */
  async #settle(written: Promise<void>): Promise<void> {
    await written.catch((error: unknown) => this.#record.watch.failed(error))
  }
}

/** True for a parked turn that only waits for results of its client's tools. */
function waitsForTools({ questions }: Turn): boolean {
  return questions!.parked!.asks.every(({ question }) => question.kind === 'tool')
}
