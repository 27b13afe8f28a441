import { BAD_ANSWERS } from './bad-answers.ts'
import { isWrite } from './bytes.ts'
import type { Behaviour, Demand, HostileFacts, Player, PlayerContext, Reaction, Suite } from './kit/index.ts'
import { type BadAnswer, type GoodAnswer, PIECES } from './spoil.ts'

/** A suite whose stand-in misbehaves in the named way. */
export function misbehaving(suite: Suite, name: Behaviour): Suite {
  const bad = BAD_ANSWERS[name]
  return bad ? { ...suite, play: (context) => spoilt(suite.play(context), bad, suite.hostile, context) } : suite
}

/** The demand on clients of a protocol under a behaviour; undefined when the behaviour does not apply. */
export function demandOn(name: Behaviour, { form, clients, owner }: HostileFacts): Demand | undefined {
  const bad = BAD_ANSWERS[name]
  const demand = clients?.[name] ?? bad?.demand
  if (!bad?.forms.includes(form) || demand === 'untried' || (name === 'foreign-ids' && !owner)) return undefined
  return demand
}

function spoilt(player: Player, bad: BadAnswer, facts: HostileFacts, { transport }: PlayerContext): Player {
  const isTried = bad.only === undefined || bad.only === transport
  const change = (reactions: readonly Reaction[]): readonly Reaction[] => {
    const said = framesOf(reactions, facts).map((one) => (isWrite(one) ? { write: saying(one.write, bad) } : one))
    const last = said.find((one) => isWrite(one) && facts.isLast(one.write))
    return isTried && last && isWrite(last) && bad.spoil ? bad.spoil(goodAnswer(said, last.write, facts)) : said
  }
  const { eof } = player
  return {
    open: () => (isTried && bad.start) || change(player.open?.() ?? []),
    line: (line) => change(player.line(line)),
    ...(eof && { eof: () => change(eof.call(player)) }),
  }
}

/** Each frame as a separate write. */
function framesOf(reactions: readonly Reaction[], { form }: HostileFacts): Reaction[] {
  return reactions.flatMap((one) =>
    isWrite(one) && form !== 'body' ? one.write.split(/(?<=\n)/).map((write) => ({ write })) : one,
  )
}

function goodAnswer(reactions: readonly Reaction[], last: string, facts: HostileFacts): GoodAnswer {
  const first = reactions.find(isWrite)!.write
  const leave = [{ pause: 100 }, { exit: facts.unfinishedExit ?? 0 }]
  return { reactions, first, last, leave, owner: facts.owner ?? [], form: facts.form }
}

/** The frame with another text, escaped as JSON where it is quoted. */
function saying(frame: string, { says }: BadAnswer): string {
  if (!says) return frame
  const isJson = frame.includes('"')
  const write = (text: string): string => (isJson ? JSON.stringify(text).slice(1, -1) : text)
  return frame
    .replace(PIECES[0], () => '\ue001')
    .replace(isJson ? PIECES[1] : PIECES[1].trim(), () => write(isJson ? says[1] : says[1].trimStart()))
    .replace('\ue001', () => write(says[0]))
}
