import type { Begun, Detour, Replica } from '../../contract/index.ts'

/**
 * A client's wire while it is not certain which replica answers it. Its first command decides that; what comes after it
 * waits until then.
 */
export class Crossing {
  readonly #detour: Detour
  /** Input after the first command, until it is taken. */
  #waiting: (() => void)[] | undefined
  /** It is not certain yet. */
  open = true

  constructor(detour: Detour) {
    this.#detour = detour
  }

  get forwarded(): boolean {
    return this.#detour.forwarded
  }

  /** Takes a step: the first one at once, the others when it is certain that this replica takes them. */
  step(take: () => void): void {
    if (this.#waiting) {
      this.#waiting.push(take)
      return
    }
    if (this.open) this.#waiting = []
    take()
  }

  /** The wire is answered here. The first command goes on before the others are taken. */
  settle(): void {
    if (!this.open) return
    this.open = false
    this.#detour.settled()
    queueMicrotask(() => this.#takeWaiting())
  }

  /** The wire goes on at another replica. */
  leave(replica: Replica, repeatable: boolean, begun: Begun): void {
    this.open = false
    this.#detour.to(replica, repeatable, begun)
  }

  #takeWaiting(): void {
    for (const take of this.#waiting ?? []) take()
    this.#waiting = undefined
  }
}
