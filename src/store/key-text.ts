/** Begins a text that stands in a column in another form. A client's text with it in front is written in that form too. */
const MARK = '\ufdd0'

/**
 * A part of a session's key as a column holds it. SQLite's texts are UTF-8, in which all halves of surrogate pairs are one
 * character: a text that has one is kept as JSON, which escapes them, and so is one with a NUL.
 */
export function toColumn(text: string): string {
  const plain = text.isWellFormed() && !text.includes('\0') && !text.startsWith(MARK)
  return plain ? text : `${MARK}${JSON.stringify(text)}`
}

/** The reverse of `toColumn`. */
export function fromColumn(column: string): string {
  return column.startsWith(MARK) ? (JSON.parse(column.slice(1)) as string) : column
}
