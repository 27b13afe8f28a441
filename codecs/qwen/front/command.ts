import { type Ext, type JsonText, quote } from '../../../src/model/index.ts'
import { ownMember } from '../wire.ts'
import type { Lines } from './lines.ts'

const NO_CONTROL = 'This wire has no control channel: what needs an approval follows the route of the gateway.'

/** Writes the `result/command` of one request. A request that is no command has none. */
export class CommandWriter {
  readonly #lines: Lines
  readonly #command: JsonText | undefined
  #shown: boolean

  /** `command` is how the answer repeats the request's command. */
  constructor(lines: Lines, command: JsonText | undefined) {
    this.#lines = lines
    this.#command = command
    this.#shown = command === undefined
  }

  /** Before anything of the answer: without a result of the agent's own, the command becomes a prompt. */
  prompt(): void {
    if (this.#shown) return
    const { control } = this.#lines.greeting
    this.#write(
      `{"type":"submit_prompt","content":${quote(control ? '' : NO_CONTROL)},"control_channel":${control}}`,
      this.#command,
    )
  }

  /** The result that an agent of this dialect gave, verbatim; false when the event brings none. */
  verbatim(ext: Ext | undefined): boolean {
    const result = ownMember(ext, 'result')
    if (result === undefined) return false
    this.#write(result, ownMember(ext, 'command') ?? this.#command, ext)
    return true
  }

  /** A result that is a message, unless there was one. */
  message(level: 'info' | 'error', content: string): void {
    if (!this.#shown) this.#write(`{"type":"message","level":"${level}","content":${quote(content)}}`, this.#command)
  }

  #write(result: JsonText, command: JsonText | undefined, ext?: Ext): void {
    this.#shown = true
    this.#lines.write(
      'result/command',
      [
        ['command', command],
        ['result', result],
      ],
      ext,
    )
  }
}
