import { signal } from '@preact/signals'
import { answerOf } from '../logic/answer.ts'
import { type Asked, requestOf } from '../logic/doors.ts'
import type { Door, TurnPage } from '../logic/types.ts'
import { ask, get, messageOf, readText } from './api.ts'
import { OpenTurn } from './turn.ts'

/** A turn is looked for at this interval, in milliseconds. */
const LOOK_MS = 250
/** The endpoint of the native API. */
const NATIVE = '/v1/turns'

/** The turns of trials: an earlier one of the same session may still run. */
const taken = new Set<string>()

/** One question to an agent through a door: the wire of the client, and the turn that it began. */
export class Trial {
  readonly text: string
  readonly door: string
  /** The protocol of a door without an endpoint: its client's wire is written from the events of the turn. */
  readonly client: string | undefined
  /** The turn; undefined until the gateway has named it. */
  readonly turn = signal<OpenTurn | undefined>(undefined)
  readonly turnId = signal<string | undefined>(undefined)
  /** The answer to the client so far, unchanged. */
  readonly got = signal('')
  readonly sent: string
  readonly problem = signal<string | undefined>(undefined)
  readonly #stop = new AbortController()
  #looking: ReturnType<typeof setTimeout> | undefined

  /** `name` is the door's for people. A door without an endpoint is tried by a turn of the native API. */
  constructor({ over, protocol, path: own }: Door, name: string, asked: Asked) {
    const path = over === 'http' ? own! : NATIVE
    const { headers, body } = requestOf(path, asked)
    this.text = asked.text
    this.door = name
    this.client = over === 'http' ? undefined : protocol
    this.sent = `POST ${path}\n${body}`
    void this.#send(path, { method: 'POST', headers, body })
    this.#look(asked)
  }

  /** Forgets the trial; its turn runs on when its protocol lets it. */
  close(): void {
    this.#stop.abort()
    clearTimeout(this.#looking)
    this.turn.value?.close()
  }

  /** Its answer is still awaited. */
  get runs(): boolean {
    const { turn, problem } = this
    const end = turn.value?.events.value.at(-1)?.type === 'turn-end'
    return problem.value === undefined && turn.value?.problem.value === undefined && !end
  }

  /** The answer so far, as the next request repeats it. */
  get answer(): string {
    return answerOf(this.turn.value?.events.value ?? []).text
  }

  async #send(path: string, init: RequestInit): Promise<void> {
    try {
      const response = await ask(path, { ...init, signal: this.#stop.signal })
      const turn = response.headers.get('turnpike-turn')
      if (turn !== null) this.#opened(turn)
      await readText(response, (text) => {
        this.got.value += text
      })
    } catch (error) {
      if (!this.#stop.signal.aborted) this.problem.value = messageOf(error)
    }
  }

  /**
   * Looks for the turn in the list: an answer that comes in one piece names it too late. It is asked again and again, because
   * browsers open few connections to a server, and streams hold theirs.
   */
  #look({ session, request }: Pick<Asked, 'session' | 'request'>): void {
    const path = `/v1/turns?limit=20&session=${encodeURIComponent(session)}`
    this.#looking = setTimeout(async () => {
      const page = await get<TurnPage>(path, this.#stop.signal).catch(() => undefined)
      const own = page?.turns.filter(({ turn }) => !taken.has(turn)) ?? []
      const found = own.find((turn) => turn.request === request) ?? own.at(-1)
      if (found) this.#opened(found.turn)
      else if (!this.turn.value && !this.#stop.signal.aborted && this.problem.value === undefined) {
        this.#look({ session, request })
      }
    }, LOOK_MS)
  }

  #opened(id: string): void {
    if (this.turn.value || this.#stop.signal.aborted) return
    clearTimeout(this.#looking)
    taken.add(id)
    this.turnId.value = id
    this.turn.value = new OpenTurn(id, { asks: true, ...(this.client !== undefined && { client: this.client }) })
  }
}
