/**
 * What a stand-in on stdio knows of its protocol before any codec is loaded: constants, because every start pays for
 * them. Nothing is usual.
 */
export interface StandInFacts {
  /** The protocol's own programs: called through a link of one of these names, this program stands in for it. */
  readonly programs?: readonly string[]
  /** The environment variables that its fronts read. */
  readonly env?: readonly string[]
  /** Its fronts read no arguments: any is a mistake. */
  readonly noArguments?: true
  /** A process answers one request, and always: where it cannot do its work, it says so in an answer. */
  readonly oneShot?: true
  /** Its own exit codes: the configuration cannot be used (usually 3), the answer could not be written (usually 1). */
  readonly exit?: { readonly configuration: number; readonly unwritten: number }
}
