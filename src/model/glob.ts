/**
 * True when all of `text` matches `glob`, in which `*` stands for any text, including none. Takes linear time for any
 * text.
 */
export function globMatches(glob: string, text: string): boolean {
  const [first, ...rest] = glob.split('*') as [string, ...string[]]
  const last = rest.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let from = first.length
  for (const piece of rest) {
    const found = text.indexOf(piece, from)
    if (found < 0) return false
    from = found + piece.length
  }
  return text.length - last.length >= from && text.endsWith(last)
}
