import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Heard, Player, Reaction, Suite } from './kit/index.ts'
import { LineReader, textOf } from './lines.ts'

/** The first line of a stand-in's record. */
export interface Opening {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The time after which an idle stand-in ends, in milliseconds; long enough to see whether the client waits for it. */
const AFTER_EOF: readonly Reaction[] = [{ pause: 100 }, { exit: 0 }]
/** The interval in which a stand-in checks that its client still runs, in milliseconds. */
const LOOK_MS = 20
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/**
 * Plays an agent on the streams of this process, for a client under test that started it, and records the wire in a
 * file of the folder: an `Opening`, then entries, one per line. They are written at once, so that the record of a
 * killed stand-in is complete. Resolves with the exit code.
 */
export function playStdio(suite: Suite, folder: string, argv: readonly string[]): Promise<number> {
  const file = join(folder, `${Date.now()}-${process.pid}.jsonl`)
  const note = (entry: Opening | Heard): void => appendFileSync(file, `${JSON.stringify(entry)}\n`)
  const env = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => suite.env.includes(entry[0])),
  )
  note({ argv, env })
  const player = suite.play({ transport: 'stdio', argv, env })
  return new Promise((resolve) => new Stage(suite.framing, player, note, resolve).open())
}

/** One player on this process's streams. Its reactions happen in order; input is recorded at once. */
class Stage {
  readonly #player: Player
  readonly #note: (entry: Heard) => void
  readonly #done: (exitCode: number) => void
  readonly #reader: LineReader
  readonly #parent = process.ppid
  #queue: Promise<void> = Promise.resolve()
  #step = 0
  #isOver = false

  constructor(
    framing: 'lines' | 'body',
    player: Player,
    note: (entry: Heard) => void,
    done: (exitCode: number) => void,
  ) {
    this.#player = player
    this.#note = note
    this.#done = done
    this.#reader = new LineReader(
      framing,
      () => this.#step,
      (line) => {
        note({ is: 'in', line })
        this.#react(() => player.line(line))
      },
    )
  }

  open(): void {
    const { stdin, stdout } = process
    setInterval(() => this.#look(), LOOK_MS).unref()
    for (const [name, code] of Object.entries(SIGNALS)) {
      process.on(name, () => {
        this.#note({ is: 'signal', name })
        this.#leave(code)
      })
    }
    stdout.on('error', () => {})
    process.stderr.on('error', () => {})
    this.#react(() => this.#player.open?.() ?? [])
    stdin.setEncoding('utf8')
    stdin.on('data', (text) => this.#reader.push(String(text)))
    stdin.on('error', () => {})
    stdin.on('end', () => {
      this.#reader.end()
      this.#note({ is: 'eof' })
      this.#react(() => this.#player.eof?.() ?? AFTER_EOF)
    })
  }

  #react(reactions: () => readonly Reaction[]): void {
    this.#queue = this.#queue.then(async () => {
      for (const reaction of reactions()) if (!this.#isOver) await this.#do(reaction)
    })
  }

  async #do(reaction: Reaction): Promise<void> {
    if ('write' in reaction || 'bytes' in reaction) {
      const piece = 'write' in reaction ? reaction.write : reaction.bytes
      await new Promise<void>((resolve) => process.stdout.write(piece, () => resolve()))
      this.#note({ is: 'out', text: textOf(piece) })
      this.#step += 1
    } else if ('stderr' in reaction)
      await new Promise<void>((resolve) => process.stderr.write(reaction.stderr, () => resolve()))
    else if ('pause' in reaction) await new Promise((resolve) => setTimeout(resolve, reaction.pause))
    else if ('exit' in reaction) this.#leave(reaction.exit)
  }

  #look(): void {
    if (this.#isOver || process.ppid === this.#parent) return
    this.#note({ is: 'orphaned' })
    this.#leave(1)
  }

  #leave(exitCode: number): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#note({ is: 'exit' })
    this.#done(exitCode)
  }
}
