import type { Initialized } from '../schema.ts'

/** The ways of single agents that the protocol leaves open, or forbids. */
export interface Quirks {
  /** It may go on to repeat the history of a session after its answer to `session/load`. */
  readonly repeatsLate?: true
  /** Its counts of tokens are those of the session since its process began. */
  readonly sums?: true
  /** The last piece of text of a turn whose model has failed, and which it ends as completed. */
  readonly failure?: RegExp
}

/** Agents by the name that they give themselves. */
const KNOWN: Readonly<Record<string, Quirks>> = {
  'gemini-cli': { repeatsLate: true },
  Copilot: { sums: true, failure: /^Error: (?:\d{3}\b|Failed to get response from the AI model)/ },
}

/** The ways of an agent, by its answer to `initialize`. */
export function quirksOf(about: Initialized | undefined): Quirks {
  const name = about?.agentInfo?.name
  return (name != null && Object.hasOwn(KNOWN, name) && KNOWN[name]) || {}
}
