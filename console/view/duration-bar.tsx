import { duration } from '../logic/format.ts'
import { phasesOf, totalOf } from '../logic/phases.ts'
import type { TurnRow } from '../logic/types.ts'

const WIDTH = 120

/** The time of a turn as a bar of its phases, with its length in words. `fullBar` milliseconds fill it. */
export function DurationBar({ turn, fullBar, now }: { turn: TurnRow; fullBar: number; now: number }) {
  const scale = WIDTH / Math.max(1, fullBar)
  return (
    <>
      <svg class="bar" viewBox={`0 0 ${WIDTH} 8`} preserveAspectRatio="none" aria-hidden="true">
        {phasesOf(turn, now).map(({ name, from, ms }) => (
          <rect
            key={name}
            class={name.replace(' ', '-')}
            x={from * scale}
            width={Math.max(0.6, ms * scale)}
            height={8}
          />
        ))}
      </svg>
      <span class="number">{duration(totalOf(turn, now))}</span>
    </>
  )
}
