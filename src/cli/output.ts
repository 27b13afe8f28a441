/** Watches standard output for the first write error. */
export class Output {
  #error: NodeJS.ErrnoException | undefined

  constructor() {
    // Without listeners an error of either stream would end the process.
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      this.#error ??= error
    })
    process.stderr.on('error', () => {})
  }

  /**
   * Resolves with the command's exit code when the reader has all output: an earlier exit would lose output that the
   * pipe has no room for yet. A reader that has gone away is no error. Any other write error is reported and turns a
   * success into exit code 3.
   */
  async flushed(exitCode: number): Promise<number> {
    await Promise.all([written(process.stdout), written(process.stderr)])
    if (!this.#error || this.#error.code === 'EPIPE') return exitCode
    process.stderr.write(`turnpike: standard output could not be written (${this.#error.code})\n`)
    return exitCode === 0 ? 3 : exitCode
  }
}

/** Resolves when all earlier output is written, or failed. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    // A stream emits its error after the callback.
    stream.write('', () => setImmediate(resolve))
  })
}
