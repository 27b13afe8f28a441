import type { LinkEvent, Loss } from '../../model/index.ts'
import type { Turn } from '../turn/index.ts'

/** A notice that no turn owns. */
export type Notice = LinkEvent & { type: 'notice' }

/** Limits of what is kept between two turns: notices, and the UTF-16 units of all of them. */
const MAX_NOTICES = 20
const MAX_UNITS = 65_536

/** Notices of an agent while no turn of its session ran: kept, up to a limit, for the session's next turn. */
export class BetweenTurns {
  #notices: Notice[] = []
  #units = 0
  #dropped = 0
  /** False when the session's last turn was one whose content is not written down. */
  mayBeKept = true

  /** Keeps it; false when too much is kept already. */
  add(notice: Notice): boolean {
    const fits = this.#notices.length < MAX_NOTICES && this.#units + notice.text.length <= MAX_UNITS
    if (fits) {
      this.#notices.push(this.hidden(notice))
      this.#units += notice.text.length
    } else this.#dropped += 1
    return fits
  }

  /** The notice as a later turn may tell it: its text would be written down with that turn. */
  hidden(notice: Notice): Notice {
    if (this.mayBeKept) return notice
    const text = `The agent said something between two turns (${notice.text.length} characters); it is not kept.`
    return { ...notice, text }
  }

  /** Tells a turn of all that was kept. */
  tell(turn: Turn): void {
    for (const { severity, code, text } of this.#notices.splice(0)) turn.notice(severity, code, text)
    if (this.#dropped > 0) turn.loss(lost(this.#dropped))
    this.#units = this.#dropped = 0
  }
}

function lost(count: number): Loss {
  return { kind: 'dropped', item: 'notice', field: 'between-turns', why: 'policy', count }
}
