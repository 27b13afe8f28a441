/** Texts that the stack around Zene takes for "the planner had nothing to do", in lower case. */
const PLACEHOLDERS = ['plan completed (or explicit empty plan).', 'plan completed.', 'no changes were made.']

/** The prefix of the report of a run that stopped at a failed task although the answer says OK. */
const HALTED = 'Execution halted due to task failure:'

/** True when the text has nothing but white space (as Unicode has it, U+0085 included). */
export function isBlank(text: string): boolean {
  return !/[^\s\u0085]/.test(text)
}

/** True when the text is, trimmed and in any case, one of the sentences that stand for an answer which never came. */
export function isPlaceholder(text: string): boolean {
  const start = text.search(/[^\s\u0085]/)
  return PLACEHOLDERS.some(
    (sentence) =>
      text.slice(start, start + sentence.length).toLowerCase() === sentence &&
      isBlank(text.slice(start + sentence.length)),
  )
}

/** The reason of a run that a failed task halted; undefined when the text is an answer. */
export function haltReason(text: string): string | undefined {
  return text.startsWith(HALTED) ? text.slice(HALTED.length).trim() : undefined
}
