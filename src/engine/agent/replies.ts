import type { Id, LinkEvent } from '../../model/index.ts'

/** An agent's answer to a command. */
export type CommandReply = Extract<LinkEvent, { type: 'command-reply' }>

/** Commands that agents are to answer: each waits for its reply, for a limited time. */
export class Replies {
  readonly #waiting = new Map<Id, (reply: CommandReply) => void>()

  /** The reply to the command of this exchange; undefined when none came in this time, in milliseconds. */
  wait(exchange: Id, timeMs: number): Promise<CommandReply | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(exchange)
        resolve(undefined)
      }, timeMs)
      this.#waiting.set(exchange, (reply) => {
        clearTimeout(timer)
        this.#waiting.delete(exchange)
        resolve(reply)
      })
    })
  }

  /** Takes what an agent has answered; a reply that nothing waits for is ignored. */
  take(reply: CommandReply): void {
    this.#waiting.get(reply.exchange)?.(reply)
  }
}
