/** All targets with their seeds, and one step of a search through changed ones. */
import { brokenBy, eventsOf, type Finding, makeCase } from './fuzz.ts'
import { allTargets, type Case, seedsOf, type Target } from './targets.ts'

/** What a search goes over. */
export interface Campaign {
  targets: readonly Target[]
  seeds: ReadonlyMap<Target, readonly Case[]>
  /** All wires there are: lines of one are put into another. */
  wires: readonly Buffer[]
}

/** Reads the samples of every codec. */
export async function newCampaign(): Promise<Campaign> {
  const targets = await allTargets()
  const seeds = new Map(await Promise.all(targets.map(async (target) => [target, await seedsOf(target)] as const)))
  return { targets, seeds, wires: [...seeds.values()].flat().map(({ wire }) => wire) }
}

/** What is broken by the changed case that `seed` names. */
export function tryOne({ seeds, wires }: Campaign, target: Target, seed: number): Finding | undefined {
  const made = makeCase(target, seeds.get(target)!, wires, seed)
  const broken = brokenBy(target, made.one, made.cuts)
  return broken && { law: broken.law, message: broken.message, ...made }
}

/** What is broken when a client of another protocol is shown the turn of a changed agent. */
export function tryPair(campaign: Campaign, back: Target, front: Target, seed: number): Finding | undefined {
  const { seeds, wires } = campaign
  const { one: agent, cuts } = makeCase(back, seeds.get(back)!, wires, seed)
  if (brokenBy(back, agent, cuts)) return undefined
  const own = seeds.get(front)!
  const one: Case = { ...own[seed % own.length]!, turn: eventsOf(back, agent) }
  const broken = brokenBy(front, one, [])
  return broken && { law: broken.law, message: broken.message, one, cuts: [] }
}
