import { pretty } from '../logic/event-text.ts'
import type { WireFrame } from '../logic/types.ts'
import { Text } from './text.tsx'

interface FramesProps {
  frames: readonly WireFrame[]
  side: 'client' | 'agent'
  startedAt: number
  isPretty?: boolean
}

/** The frames of one side of a turn, each with its sender and its time. */
export function Frames({ frames, side, startedAt, isPretty = false }: FramesProps) {
  return (
    <div class={`frames ${side}`}>
      {frames.map(({ dir, at, text, cut }, index) => (
        <pre key={index} class={dir} title={at === undefined ? undefined : `${at - startedAt} ms after the start`}>
          <span class="dir">
            {directionOf(side, dir)}
            {at !== undefined && ` · ${at - startedAt} ms`}
          </span>
          <Text value={isPretty ? pretty(text) : text} limit={1_500} />
          {cut && <span class="muted"> … the gateway has not kept the rest</span>}
        </pre>
      ))}
    </div>
  )
}

/** Frames go in to the gateway or out of it. */
function directionOf(side: 'client' | 'agent', dir: WireFrame['dir']): string {
  if (side === 'client') return dir === 'in' ? 'client said' : 'client got'
  return dir === 'in' ? 'agent said' : 'agent got'
}
