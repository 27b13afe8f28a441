/**
 * Facts that a stand-in on stdio needs before any codec is loaded. They are constants, because loading costs time at
 * every start. All are optional.
 */
export interface StandInFacts {
  /** Its clients start no program: there is no stand-in. */
  readonly none?: true
  /**
   * The protocol's own programs: when this program is called through a link with one of these names, it stands in for
   * them.
   */
  readonly programs?: readonly string[]
  /** The environment variables that its fronts read. */
  readonly env?: readonly string[]
  /** Its fronts read no arguments: an argument is an error. */
  readonly noArguments?: true
  /** A process answers one request, and always does: a failure to work is reported in an answer. */
  readonly oneShot?: true
  /** Its own exit codes: the configuration cannot be used (usually 3), the answer could not be written (usually 1). */
  readonly exit?: { readonly configuration: number; readonly unwritten: number }
}
