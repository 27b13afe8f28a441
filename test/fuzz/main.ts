#!/usr/bin/env node
/**
 * The long search: `node test/fuzz/main.ts [--minutes N] [--seed N] [--growth]`. Every kind of finding is made small and
 * kept in `test/fuzz/corpus`; exit code 1 when there was one.
 */
import { parseArgs } from 'node:util'
import { type Campaign, newCampaign, tryOne, tryPair } from './campaign.ts'
import { keep } from './corpus.ts'
import { type Finding, shrunk } from './fuzz.ts'
import { growing } from './growth.ts'
import type { Target } from './targets.ts'

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/** What a finding is of: the same law in the same place is found once. */
function kindOf(target: Target, { law, message }: Finding): string {
  const place = message.split('\n').find((line) => line.includes('/codecs/') || line.includes('/src/'))
  return `${target.name}: ${law}${place === undefined ? '' : ` ${place.trim()}`}`
}

function search(campaign: Campaign, minutes: number, from: number): number {
  const known = new Set<string>()
  const fronts = campaign.targets.filter(({ half }) => half === 'front')
  const told = (target: Target, found: Finding | undefined): void => {
    if (!found || known.has(kindOf(target, found))) return
    known.add(kindOf(target, found))
    const small = shrunk(target, found)
    say(
      `${kindOf(target, found)}\n  ${found.message.split('\n')[0]!.slice(0, 300)}\n  kept as test/fuzz/corpus/${keep(small)}`,
    )
  }
  const until = Date.now() + minutes * 60_000
  let seed = from
  for (; Date.now() < until; seed += 1) {
    for (const target of campaign.targets) {
      told(target, tryOne(campaign, target, seed))
      const front = fronts[seed % fronts.length]!
      if (target.half === 'back') told(front, tryPair(campaign, target, front, seed))
    }
  }
  say(`${(seed - from) * campaign.targets.length} cases from seed ${from}, ${known.size} kinds of findings`)
  return known.size
}

function grow(campaign: Campaign): number {
  let found = 0
  for (const target of campaign.targets) {
    const known = new Set<string>()
    for (const one of campaign.seeds.get(target)!) {
      for (const line of growing(target, one, known)) {
        found += 1
        say(`${target.name}: ${line}`)
      }
    }
  }
  say(`growth: ${found} findings`)
  return found
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    growth: { type: 'boolean', default: false },
  },
})
const campaign = await newCampaign()
const found = values.growth
  ? grow(campaign)
  : search(campaign, Number(values.minutes), Number(values.seed ?? Date.now() % 1_000_000_000))
process.exitCode = found > 0 ? 1 : 0
