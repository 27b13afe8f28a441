// The answer that every hostile agent gives that answers at all, whole and in pieces.
export const PIECES = ['One ', 'two ', 'three.']
export const ANSWER = PIECES.join('')

export const forever = () => setInterval(() => {}, 1000)

export function pieces(talk, some = PIECES) {
  for (const piece of some) talk.text(piece)
}

export function answer(talk) {
  talk.begin()
  pieces(talk)
  talk.finish(ANSWER)
}

export function answerAndLeave(talk) {
  answer(talk)
  talk.done()
}

/** Begins an answer and does something else before its end. */
export const interrupted = (what) => (talk, wire, prompt) => {
  talk.begin()
  pieces(talk, PIECES.slice(0, 1))
  what(talk, wire, prompt)
}
