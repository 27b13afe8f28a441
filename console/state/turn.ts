import { signal } from '@preact/signals'
import { readJson } from '../logic/json.ts'
import type { NumberedEvent, TurnDetail, Wire } from '../logic/types.ts'
import { ApiError, get, messageOf, readEvents } from './api.ts'

/** Events are shown together, at this interval in milliseconds. */
const SHOW_MS = 100
/** A running turn is asked for again after so many milliseconds. */
const AGAIN_MS = 1_000

/** One turn with its events and its wires, live until it ends or `close`. */
export class OpenTurn {
  readonly detail = signal<TurnDetail | undefined>(undefined)
  readonly events = signal<readonly NumberedEvent[]>([])
  readonly wire = signal<Wire | undefined>(undefined)
  readonly problem = signal<string | undefined>(undefined)
  /** The time when this page saw each event, by its number: for a running turn, about the time when it happened. */
  readonly seen = new Map<number, number>()
  readonly #id: string
  readonly #client: string | undefined
  readonly #stop = new AbortController()
  readonly #events: NumberedEvent[] = []
  #showing: ReturnType<typeof setTimeout> | undefined
  #asking: ReturnType<typeof setTimeout> | undefined

  /**
   * `asks`: this page also answers the questions of the turn's agent. `client`: the protocol in which its wires are written
   * again, as its client would have it.
   */
  constructor(id: string, { asks = false, client }: { asks?: boolean; client?: string } = {}) {
    this.#id = id
    this.#client = client
    void this.#load()
    void this.#follow(asks)
  }

  /** Stops following. */
  close(): void {
    this.#stop.abort()
    clearTimeout(this.#showing)
    clearTimeout(this.#asking)
  }

  get #path(): string {
    return `/v1/turns/${encodeURIComponent(this.#id)}`
  }

  async #load(): Promise<void> {
    try {
      this.detail.value = await get<TurnDetail>(this.#path, this.#stop.signal)
      this.wire.value = await this.#wire()
      if (this.detail.value.state === 'running') this.#asking = setTimeout(() => void this.#load(), AGAIN_MS)
    } catch (error) {
      if (!this.#stop.signal.aborted) this.problem.value = messageOf(error)
    }
  }

  #reload(): void {
    clearTimeout(this.#asking)
    void this.#load()
  }

  /** The wires; undefined where the gateway has none for this turn. */
  async #wire(): Promise<Wire | undefined> {
    try {
      const query = this.#client === undefined ? '' : `?client=${encodeURIComponent(this.#client)}`
      return await get<Wire>(`${this.#path}/wire${query}`, this.#stop.signal)
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined
      throw error
    }
  }

  async #follow(asks: boolean): Promise<void> {
    try {
      await readEvents(`${this.#path}/events${asks ? '?asks=now' : ''}`, this.#stop.signal, (type, data) => {
        if (type !== 'ping') this.#take(readJson(data) as NumberedEvent)
      })
      this.#show()
      clearTimeout(this.#asking)
      await this.#load()
    } catch (error) {
      if (!this.#stop.signal.aborted) this.problem.value = messageOf(error)
    }
  }

  #take(event: NumberedEvent): void {
    this.#events.push(event)
    if (this.detail.value?.state === 'running') {
      this.seen.set(event.seq, Date.now())
      // Its phase is another one now.
      if (event.type === 'ask' || event.type === 'ask-settled') this.#reload()
    }
    this.#showing ??= setTimeout(() => this.#show(), SHOW_MS)
  }

  #show(): void {
    clearTimeout(this.#showing)
    this.#showing = undefined
    this.events.value = [...this.#events]
  }
}
