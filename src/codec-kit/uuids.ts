import type { Id } from '../model/index.ts'

/** The text form of a UUID. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * Ids of lines in the form of UUIDs (version 8, RFC 9562). They count, so that a replay gives the same ones; their common
 * part comes from an id that is unique in the gateway.
 */
export class Uuids {
  readonly #prefix: string
  #count = 0

  constructor(seed: Id) {
    const [one, two, three] = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b].map((basis) => digest(seed, basis))
    this.#prefix = `${one}-${two!.slice(0, 4)}-8${two!.slice(5)}-8${three!.slice(5)}-`
  }

  next(): string {
    this.#count += 1
    return this.#prefix + this.#count.toString(16).padStart(12, '0')
  }

  /** The id itself when it is a UUID already, else a fresh one. */
  of(id: Id): string {
    return UUID.test(id) ? id : this.next()
  }
}

/** FNV-1a, 32 bits, in eight hexadecimal digits. */
function digest(text: string, basis: number): string {
  let hash = basis
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
