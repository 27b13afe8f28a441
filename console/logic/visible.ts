/** Text of clients and agents, made safe to look at: what a reader could not see, or what moves other text, has a name. */

/** A piece of a text; `mark` is the name of a character that is shown instead of it. */
export interface Piece {
  text: string
  mark?: string
}

/** Characters that are invisible or change the direction of others; line feeds and tabs are layout. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

const NAMES: Readonly<Record<string, string>> = {
  '\u0000': 'NUL',
  '\u0007': 'BEL',
  '\u0008': 'BS',
  '\r': 'CR',
  '\u001b': 'ESC',
  '\u007f': 'DEL',
  '\u200b': 'ZWSP',
  '\u200e': 'LRM',
  '\u200f': 'RLM',
  '\u061c': 'ALM',
  '\u202a': 'LRE',
  '\u202b': 'RLE',
  '\u202c': 'PDF',
  '\u202d': 'LRO',
  '\u202e': 'RLO',
  '\u2066': 'LRI',
  '\u2067': 'RLI',
  '\u2068': 'FSI',
  '\u2069': 'PDI',
  '\ufeff': 'BOM',
}

/** The pieces of a text: plain text, and marks for hidden characters. A CR before an LF is layout. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = []
  let from = 0
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    if (character === '\r' && text[index + 1] === '\n') continue
    if (index > from) found.push({ text: text.slice(from, index) })
    found.push({ text: character, mark: nameOf(character) })
    from = index + character.length
  }
  if (from < text.length) found.push({ text: text.slice(from) })
  return found
}

/** A text in which hidden characters are replaced by their names: for attributes and titles. */
export function plain(text: string): string {
  return pieces(text)
    .map((piece) => (piece.mark === undefined ? piece.text : `[${piece.mark}]`))
    .join('')
}

function nameOf(character: string): string {
  return NAMES[character] ?? `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}

/** The beginning of a text of at most `limit` units that cuts no character in two, and the number of units after it. */
export function cut(text: string, limit: number): { text: string; left: number } {
  if (text.length <= limit) return { text, left: 0 }
  const last = text.charCodeAt(limit - 1)
  const end = last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit
  return { text: text.slice(0, end), left: text.length - end }
}
