/** True when a client may send commands: where there is a token, after a `hello` with it. */
export class Access {
  readonly #token: string
  granted: boolean

  /** `token` is empty where none is needed. */
  constructor(token: string) {
    this.#token = token
    this.granted = token === ''
  }

  /** A client says hello. False when it brings another token. */
  grant(token: unknown): boolean {
    if (this.#token !== '' && token !== this.#token) return false
    this.granted = true
    return true
  }
}
