import { signal } from '@preact/signals'
import { answerOf } from '../logic/answer.ts'
import { type Asked, requestOf } from '../logic/doors.ts'
import { ask, messageOf, readText } from './api.ts'
import { followTurns } from './follow.ts'
import { OpenTurn } from './turn.ts'

/** One question to an agent through a door: the wire of the client, and the turn that it began. */
export class Trial {
  readonly text: string
  readonly door: string
  /** The turn; undefined until the gateway has named it. */
  readonly turn = signal<OpenTurn | undefined>(undefined)
  readonly turnId = signal<string | undefined>(undefined)
  /** What the client got so far, as it was. */
  readonly got = signal('')
  readonly sent: string
  readonly problem = signal<string | undefined>(undefined)
  readonly #stop = new AbortController()
  readonly #unfollow: () => void

  /** `path` is that of the endpoint, `door` its name for people. */
  constructor(path: string, door: string, asked: Asked) {
    const { headers, body } = requestOf(path, asked)
    this.text = asked.text
    this.door = door
    this.sent = `POST ${path}\n${body}`
    // An answer that comes in one piece names its turn too late: the list of turns does so at once.
    this.#unfollow = followTurns('', {
      began() {},
      lost() {},
      turns: (turns) => {
        const own = turns.find(({ session, request }) => session === asked.session || request === asked.request)
        if (own?.state === 'running') this.#opened(own.turn)
      },
    })
    void this.#send(path, { method: 'POST', headers, body })
  }

  /** Forgets the trial; its turn runs on when its protocol lets it. */
  close(): void {
    this.#stop.abort()
    this.#unfollow()
    this.turn.value?.close()
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
      this.#unfollow()
    } catch (error) {
      if (!this.#stop.signal.aborted) this.problem.value = messageOf(error)
    }
  }

  #opened(id: string): void {
    if (this.turn.value) return
    this.turnId.value = id
    this.turn.value = new OpenTurn(id, { asks: true })
  }
}
