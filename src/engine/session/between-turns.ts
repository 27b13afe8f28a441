import type { SessionRecord } from '../../contract/index.ts'
import { type JsonText, type LinkEvent, type Loss, overlaid, UNASKED_OUTPUT } from '../../model/index.ts'
import type { AgentSettings, EngineLog } from '../common/index.ts'
import type { Turn } from '../turn/index.ts'
import type { SessionRecorder } from './detours.ts'

/** A notice outside of any turn. */
export type Notice = LinkEvent & { type: 'notice' }

/** Limits of what is kept between two turns: notices, and the UTF-16 units of all of them. */
const MAX_NOTICES = 20
const MAX_UNITS = 65_536

/** The session whose agent spoke. */
interface Speaker {
  session: SessionRecord
  agent: AgentSettings
  running: Turn | undefined
}

/** The parts of the gateway that get its notices. */
interface Listeners {
  recorder: SessionRecorder
  log: EngineLog
  /** Milliseconds since the epoch. */
  now(): number
}

/** Messages of an agent while no turn of its session ran: notices, up to a limit, and its offers, for the next turn. */
export class BetweenTurns {
  #offers: JsonText | undefined
  #notices: Notice[] = []
  #units = 0
  #dropped = 0
  /** False when the content of the session's last turn is not written down. */
  mayBeKept = true

  /**
   * Gives the notice to the turn that waits for the agent, else to the next one; unasked output joins the transcript.
   */
  keep(notice: Notice, { session, agent, running }: Speaker, { recorder, log, now }: Listeners): void {
    const { severity, code, text } = notice
    const waits = running?.ended === false ? running : undefined
    const fits = waits !== undefined || this.add(notice)
    waits?.notice(severity, code, this.#hidden(notice).text)
    const about = { agent: agent.name, session: session.id, severity, code, characters: text.length }
    log.info('an agent spoke between turns', about)
    if (fits && code === UNASKED_OUTPUT && this.mayBeKept) recorder.unasked(session, text, now())
  }

  /** Keeps it for the next turn; false when the limit is reached. */
  add(notice: Notice): boolean {
    const fits = this.#notices.length < MAX_NOTICES && this.#units + notice.text.length <= MAX_UNITS
    if (fits) {
      this.#notices.push(this.#hidden(notice))
      this.#units += notice.text.length
    } else this.#dropped += 1
    return fits
  }

  /** Keeps what the agent offers from now on. */
  offer(changed: JsonText): void {
    this.#offers = overlaid(this.#offers ?? '{}', changed)
  }

  /** Gives a turn all that is kept. */
  tell(turn: Turn): void {
    if (this.#offers !== undefined) turn.audience.tell({ turn: null, type: 'session-changed', json: this.#offers })
    this.#offers = undefined
    for (const { severity, code, text } of this.#notices.splice(0)) turn.notice(severity, code, text)
    if (this.#dropped > 0) turn.loss(lost(this.#dropped))
    this.#units = this.#dropped = 0
  }

  /** The notice as a later turn may have it, because its text is written down with that turn. */
  #hidden(notice: Notice): Notice {
    if (this.mayBeKept) return notice
    const text = `The agent said something between two turns (${notice.text.length} characters); it is not kept.`
    return { ...notice, text }
  }
}

/** True when the notice is about no turn that runs: none has begun, or the agent sent the notice before. */
export function isBetweenTurns({ code }: Notice, running: Turn | undefined): boolean {
  return running?.ended !== false || code === UNASKED_OUTPUT
}

function lost(count: number): Loss {
  return { kind: 'dropped', item: 'notice', field: 'between-turns', why: 'policy', count }
}
