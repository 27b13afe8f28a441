import { list, Raw, sql, type Value } from './sql.ts'

/** A type of a parameter. */
type Type = 'TEXT' | 'BIGINT' | 'INT' | 'DOUBLE PRECISION'

/**
 * A statement that the server parses and plans once for each connection, for what every turn does. Its rows have no other
 * columns when a table gets one.
 */
export class Prepared {
  readonly #name: string
  readonly #types: readonly Type[]
  readonly #text: string

  /** The parameters are `$1` and so on in the `text`, of these `types`. */
  constructor(name: string, types: readonly Type[], text: string) {
    this.#name = name
    this.#types = types
    this.#text = text
  }

  /** The statement that prepares it. */
  get preparation(): string {
    return `PREPARE ${this.#name} (${this.#types.join(', ')}) AS ${this.#text}`
  }

  /** The statement that runs it with these values. */
  with(...values: readonly Value[]): string {
    return sql`EXECUTE ${new Raw(this.#name)} (${list(values)})`
  }
}
