import { isWrite } from './bytes.ts'
import { type Demand, isObject, parsed, type Reaction, type WireForm } from './kit/index.ts'

/** A good answer of a stand-in, as the basis of bad ones: its reactions, with one write for every frame. */
export interface GoodAnswer {
  readonly reactions: readonly Reaction[]
  /** The first frame, and the last one, with their ends. */
  readonly first: string
  readonly last: string
  /** The end of an agent without further frames: it exits with the code of an agent that left its turn open. */
  readonly leave: readonly Reaction[]
  /** The members that mark a frame as another turn's. */
  readonly owner: readonly string[]
  readonly form: WireForm
}

/** One misbehaviour of a stand-in. */
export interface BadAnswer {
  /** Its description, after "the agent". */
  readonly does: string
  readonly forms: readonly WireForm[]
  readonly demand: Demand
  /** The text in place of the two pieces of the good answer. */
  readonly says?: readonly [string, string]
  /** The text that a client has to show then, if it is not the two pieces. */
  readonly shows?: RegExp
  /** Text that a client must not show. */
  readonly never?: string
  /** Done at the start, before reading. */
  readonly start?: readonly Reaction[]
  readonly spoil?: (answer: GoodAnswer) => readonly Reaction[]
  readonly only?: 'http' | 'stdio'
}

/** The two pieces of a good answer. */
export const PIECES = ['All', ' well.'] as const

/** Changes every frame. */
export const each =
  (change: (frame: string) => Reaction | readonly Reaction[]) =>
  ({ reactions }: GoodAnswer): Reaction[] =>
    reactions.flatMap((one) => (isWrite(one) ? change(one.write) : one))

/** Changes the text of every frame. */
export const text = (change: (frame: string) => string) => each((frame) => ({ write: change(frame) }))

/** Adds something before or after the frame that ends the answer. */
export const around =
  (
    before: (answer: GoodAnswer) => readonly Reaction[],
    after: (answer: GoodAnswer) => readonly Reaction[] = () => [],
  ) =>
  (answer: GoodAnswer): Reaction[] =>
    answer.reactions.flatMap((one) =>
      isWrite(one) && one.write === answer.last ? [...before(answer), one, ...after(answer)] : one,
    )

/** Replaces the frame that ends the answer, and exits. */
export const instead =
  (what: (last: string) => readonly Reaction[]) =>
  ({ reactions, last, leave }: GoodAnswer): Reaction[] => {
    const at = reactions.findIndex((one) => isWrite(one) && one.write === last)
    return [...reactions.slice(0, at), ...what(last), ...leave]
  }

/** Does this and nothing else. */
export const only = (reaction: Reaction) => (): readonly Reaction[] => [reaction]

/** The first half of a frame. */
export const half = (frame: string): string => frame.slice(0, frame.length / 2)

/** A frame with another text: a piece of the answer if it has pieces, else all of it. */
export function saying(word: string, { reactions, last }: GoodAnswer): string {
  const piece = reactions.find((one) => isWrite(one) && one.write.includes(PIECES[0]))
  const frame = piece && isWrite(piece) ? piece.write : last
  return frame.replace(/All(?: well\.)?/g, word)
}

/** The answer of another turn. */
export function stray(answer: GoodAnswer): Reaction[] {
  const frame = parsed(saying('stray', answer))
  if (!isObject(frame)) return []
  const names = Object.fromEntries(answer.owner.map((name) => [name, 'foreign-9']))
  return [{ write: `${JSON.stringify({ ...frame, ...names })}\n` }]
}

/** Makes every frame unreadable, and exits as an agent without an answer. */
export const unreadable =
  (change: (frame: string) => string) =>
  (answer: GoodAnswer): readonly Reaction[] => [
    ...text(change)(answer).filter((one) => !('exit' in one)),
    ...answer.leave,
  ]

/** Exits without the end of the last line. */
export function withoutLastEnd({ reactions }: GoodAnswer): readonly Reaction[] {
  const at = reactions.findLastIndex(isWrite)
  return [...reactions.slice(0, at), ...reactions.slice(at, at + 1).map(trimmed), { exit: 0 }]
}

function trimmed(reaction: Reaction): Reaction {
  return isWrite(reaction) ? { write: reaction.write.trimEnd() } : reaction
}
