/** What became of what a command wrote to standard output: the error that it met, as soon as there is one. */
export class Output {
  #error: NodeJS.ErrnoException | undefined

  constructor() {
    // Without listeners an error of either would end the process in the middle of its work.
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      this.#error ??= error
    })
    process.stderr.on('error', () => {})
  }

  /**
   * Resolves with the command's exit code when everything it wrote is with the reader: an exit right away would cut what
   * a pipe has no room for yet. A reader that has gone away has seen enough; when it could not be written for another
   * reason that is said, and a success is none (exit code 3).
   */
  async flushed(exitCode: number): Promise<number> {
    await Promise.all([written(process.stdout), written(process.stderr)])
    if (!this.#error || this.#error.code === 'EPIPE') return exitCode
    process.stderr.write(`turnpike: standard output could not be written (${this.#error.code})\n`)
    return exitCode === 0 ? 3 : exitCode
  }
}

/** Resolves when everything before is written, or cannot be. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    // The error of a stream is told behind the callback.
    stream.write('', () => setImmediate(resolve))
  })
}
