import type { Limits } from '../../contract/index.ts'
import { type Fault, fault } from '../../model/index.ts'
import { stepTime } from '../common/index.ts'

/** The limits that a turn begins with. */
export interface TimerInit {
  agent: string
  limits: Limits
  /** The client's own limit, in milliseconds; the agent's bounds it. */
  totalMs: number | undefined
}

type Phase = 'waiting' | 'place' | 'start' | 'firstEvent' | 'idle'

/**
 * The time limits of one turn on one timer: the whole turn, and the phase it is in. An event only notes the time; the
 * timer reads it when it fires, so that no timer is set per event.
 */
export class TurnTimer {
  readonly #expired: (fault: Fault) => void
  /** The client's own limit, from the beginning of the turn. */
  readonly #askedMs: number
  readonly #startedAt: number
  #agent: string
  #limits: Limits
  /** The time when its agent took the turn. That agent's limit of the whole turn counts from here. */
  #takenAt: number
  #phase: Phase = 'waiting'
  #phaseAt: number
  #held = false
  #stopped = false
  #timer: NodeJS.Timeout | undefined
  /** The time when the timer fires. */
  #dueAt = Number.POSITIVE_INFINITY

  /** `expired` is called at most once. */
  constructor({ agent, limits, totalMs }: TimerInit, expired: (fault: Fault) => void) {
    this.#agent = agent
    this.#limits = limits
    this.#askedMs = totalMs ?? Number.POSITIVE_INFINITY
    this.#expired = expired
    this.#startedAt = this.#takenAt = this.#phaseAt = stepTime()
    this.#arm()
  }

  /** Another agent takes the turn: from here on its limits count, the client's own goes on. */
  moveTo(agent: string, limits: Limits): void {
    this.#agent = agent
    this.#limits = limits
    this.#takenAt = stepTime()
    this.enter('waiting')
  }

  /** The turn enters a phase now. */
  enter(phase: Phase): void {
    this.#phase = phase
    this.#phaseAt = stepTime()
    this.#arm()
  }

  /** Output came from the agent. */
  touch(): void {
    this.#phaseAt = stepTime()
    if (this.#phase !== 'idle') this.enter('idle')
  }

  /** Silence is not the agent's fault while the client does not read or has a question to answer. */
  hold(held: boolean): void {
    this.#held = held
    this.#phaseAt = stepTime()
  }

  /** The turn has its end: no limit passes after that. */
  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  get #phaseMs(): number {
    if (this.#phase === 'waiting') return Number.POSITIVE_INFINITY
    return this.#limits[this.#phase === 'place' ? 'start' : this.#phase]
  }

  /** The milliseconds that the whole turn has left. */
  get leftMs(): number {
    return Math.max(0, Math.floor(this.#totalAt - stepTime()))
  }

  /** The time when the limit of the whole turn is reached. */
  get #totalAt(): number {
    return Math.min(this.#startedAt + this.#askedMs, this.#takenAt + this.#limits.total)
  }

  /** A timer that is due earlier stays: it is set again when it fires. */
  #arm(): void {
    const due = Math.min(this.#totalAt, this.#phaseAt + this.#phaseMs)
    if (this.#stopped || this.#dueAt <= due) return
    clearTimeout(this.#timer)
    this.#dueAt = due
    this.#timer = setTimeout(() => this.#fire(), Math.min(Math.max(0, due - stepTime()), 2 ** 31 - 1))
  }

  #fire(): void {
    this.#dueAt = Number.POSITIVE_INFINITY
    const now = stepTime()
    // Timers may fire a fraction of a millisecond early.
    if (now + 1 >= this.#totalAt) {
      const time = timeText(Math.min(this.#askedMs, this.#limits.total))
      this.#expired(fault('timeout', `The turn did not end within its limit of ${time}.`))
    } else if (!this.#held && now + 1 >= this.#phaseAt + this.#phaseMs) {
      this.#expired(this.#phaseFault())
    } else {
      if (this.#held) this.#phaseAt = now
      this.#arm()
    }
  }

  #phaseFault(): Fault {
    const time = timeText(this.#phaseMs)
    if (this.#phase === 'place') {
      const none = `No process of the agent "${this.#agent}" was free within ${time} (limit "start")`
      return fault('overloaded', `${none}; try again later, or allow it more processes (pool.max).`)
    }
    if (this.#phase === 'start') {
      return fault('agent-unavailable', `The agent "${this.#agent}" was not ready within ${time} (limit "start").`)
    }
    return fault('timeout', `The agent "${this.#agent}" sent nothing for ${time} (limit "${this.#phase}").`)
  }
}

/** A time as people write it: `10 s`, `1.5 s`, `200 ms`. */
function timeText(ms: number): string {
  return ms >= 1000 && ms % 100 === 0 ? `${ms / 1000} s` : `${ms} ms`
}
