/** True for the texts that a pattern takes. */
export type Glob = (text: string) => boolean

/**
 * The texts that match `glob` as a whole, in which `*` stands for any text, including none. A test takes linear time
 * for any text.
 */
export function compileGlob(glob: string): Glob {
  const [first, ...rest] = glob.split('*') as [string, ...string[]]
  const last = rest.pop()
  if (last === undefined) return (text) => text === first
  return (text) => {
    if (!text.startsWith(first)) return false
    let from = first.length
    for (const piece of rest) {
      const found = text.indexOf(piece, from)
      if (found < 0) return false
      from = found + piece.length
    }
    return text.length - last.length >= from && text.endsWith(last)
  }
}

/** True when all of `text` matches `glob`, as `compileGlob` has it. */
export function globMatches(glob: string, text: string): boolean {
  return compileGlob(glob)(text)
}
