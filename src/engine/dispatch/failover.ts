import { fault } from '../../model/index.ts'
import type { EngineLog } from '../common/index.ts'
import type { Recorder } from '../record/index.ts'
import type { LiveSession } from '../session/index.ts'
import type { Turn } from '../turn/index.ts'
import { mayWait } from './placement.ts'
import type { SessionOpener } from './session-opener.ts'

/** The parts of the gateway that failover works with. */
export interface FailoverPeers {
  recorder: Recorder
  opener: SessionOpener
  log: EngineLog
  /** Milliseconds since the epoch. */
  now(): number
}

/** Moves turns whose agent could not be used to the line of another one. */
export class Failover {
  readonly #peers: FailoverPeers

  constructor(peers: FailoverPeers) {
    this.#peers = peers
  }

  /** Moves a turn to the session of the agent that it has now. It ends with a fault when that is not possible. */
  move(turn: Turn): void {
    turn.session.abandon(turn)
    this.#move(turn).catch((error: unknown) => {
      const { traceparent } = turn.scope.carrier
      this.#peers.log.error('a turn could not be given to another agent', { error: String(error), traceparent })
      turn.fail(fault('internal', 'The gateway could not do this; see its log.'))
    })
  }

  async #move(turn: Turn): Promise<void> {
    const { recorder, opener, now } = this.#peers
    const { agent, session: from } = turn
    const { tenant, session, conversation } = from.record
    const to = await opener.openInstead({ tenant, agent: agent.name, session, conversation }, agent, now(), from.record)
    try {
      await recorder.move(turn, to.record.id)
      if (!turn.ended) this.#enqueue(turn, to)
    } finally {
      to.restWhenIdle()
    }
  }

  #enqueue(turn: Turn, session: LiveSession): void {
    const full = session.refusal(mayWait(turn.route, turn.agent))
    if (full) {
      turn.fail(full)
      return
    }
    turn.session = session
    session.enqueue(turn)
    session.ready(turn)
  }
}
