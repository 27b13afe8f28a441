import { StoreError } from '../../contract/index.ts'
import { type Command, type Fault, fault, type Id } from '../../model/index.ts'
import type { ClientLink, ClientListener, Exchange } from '../client/index.ts'
import { type CurrentSettings, DRAINING, type EngineLog, UNWRITABLE } from '../common/index.ts'
import { needsRecord, type Recorder, type StoreWatch } from '../record/index.ts'
import type { Admission } from './admission.ts'
import type { Controls } from './controls.ts'
import type { Forwarding } from './forwarding.ts'
import { viewerOf } from './lists.ts'
import { nameFault } from './names.ts'
import { chooseAgent } from './router.ts'
import { TurnCommands, targetOf } from './turn-commands.ts'

const FAILED = fault('internal', 'The gateway could not do this; see its log.')

/** Takers of the three kinds of commands: those that start a turn, are about one, or neither. */
export interface Takers {
  admission: Admission
  turnCommands: TurnCommands
  controls: Controls
}

/** The parts of the gateway that dispatch works with. */
export interface DispatchPeers {
  recorder: Recorder
  watch: StoreWatch
  log: EngineLog
  settings: CurrentSettings
  /** Present where there are other replicas. */
  forwarding?: Forwarding | undefined
  /** Milliseconds since the epoch. */
  now(): number
}

/** Gives each command of a client to its handler. */
export class Dispatcher implements ClientListener {
  readonly #takers: Takers
  readonly #peers: DispatchPeers
  /** True once no turn is taken any more. */
  closing = false

  constructor(takers: Takers, peers: DispatchPeers) {
    this.#takers = takers
    this.#peers = peers
  }

  /**
   * Takes a command. A failure inside the gateway ends the exchange with an error of the client's protocol, and is
   * logged.
   */
  command(client: ClientLink, command: Command, exchange: Exchange | undefined): void {
    const done = this.#dispatch(client, command, exchange).catch((error: unknown) => {
      const { traceparent } = client.scope.carrier
      this.#peers.log.error('a command failed', { error: String(error), traceparent })
      if (exchange?.turn && !exchange.follows) exchange.turn.fail(FAILED)
      exchange?.fail(error instanceof StoreError ? this.#unwritable : FAILED)
    })
    if (client.mayLeave) void done.then(() => client.settle())
  }

  /** A client holds the answer of a recorded turn. */
  delivered(turn: Id): void {
    this.#peers.recorder.delivered(turn)
  }

  /** Logs that the codec of a client threw an exception. */
  broken({ options: { front } }: ClientLink, error: unknown): void {
    this.#peers.log.error('the codec of a client failed', { front: front.name, error: String(error) })
  }

  get #unwritable(): Fault {
    return this.#peers.forwarding?.unwritable ?? UNWRITABLE
  }

  async #dispatch(client: ClientLink, command: Command, exchange: Exchange | undefined): Promise<void> {
    const { admission, turnCommands, controls } = this.#takers
    const { recorder, watch, settings, now } = this.#peers
    const { front, context, access } = client.options
    const { agent: explicit, allowed } = access
    const { forwarding } = this.#peers
    const unkept = nameFault(command)
    if (unkept) return exchange?.fail(unkept)
    if (command.type === 'turn-start') client.scope.read?.()
    else if (needsRecord(command, exchange) && !(watch.writable || (await watch.ready())))
      return exchange?.fail(this.#unwritable)
    if (TurnCommands.takes(command)) {
      if (forwarding && client.mayLeave && (await forwarding.ofTurn(client, command, targetOf(command)))) return
      const otherwise = exchange?.answer.otherwise
      if (otherwise && (await turnCommands.isLost(access.tenant, command)))
        return this.#dispatch(client, otherwise(), exchange)
      client.settle()
      return turnCommands.run(client, command, exchange)
    }
    const { current } = settings
    const choice = chooseAgent(current, {
      front: front.name,
      explicit,
      principal: context.principal,
      allowed,
      namesAgents: front.dialect.front.namesAgents === true,
      command,
    })
    if ('code' in choice) return exchange?.fail(choice)
    if (command.type === 'turn-start') {
      if (this.closing) return exchange?.fail(DRAINING)
      return exchange && admission.start(client, command, choice, exchange)
    }
    if (forwarding && client.mayLeave && (await forwarding.ofControl(client, command, choice.agent))) return
    client.settle()
    // The answer includes turns that have just ended.
    if (command.type === 'query') await recorder.flush()
    await controls.run(
      client,
      command,
      { settings: current, agent: choice.agent, ...viewerOf(access), allowed, at: now() },
      exchange,
    )
  }
}
