import { duration } from '../logic/format.ts'
import type { Hop } from '../logic/hops.ts'
import { plain } from '../logic/visible.ts'

const [LABEL, WIDTH, ROW] = [128, 872, 20]

/** The time of a turn as a picture: one line for each hop, all on the same scale. */
export function Waterfall({ hops }: { hops: readonly Hop[] }) {
  const total = Math.max(1, ...hops.map(({ to }) => to))
  const height = hops.length * ROW + 18
  const scale = (WIDTH - 70) / total
  const words = hops.map(({ name, from, to }) => `${plain(name)} ${duration(to - from)}`).join(', ')
  if (hops.length === 0) return null
  return (
    <figure class="waterfall" tabIndex={0}>
      <svg viewBox={`0 0 ${LABEL + WIDTH} ${height}`} role="img" aria-label={`Where the time went: ${words}`}>
        {[0, 0.25, 0.5, 0.75, 1].map((share) => (
          <g key={share} transform={`translate(${LABEL + share * total * scale} 0)`}>
            <line class="grid" y1={14} y2={height} />
            <text class="tick" y={10} text-anchor={share === 0 ? 'start' : 'middle'}>
              {duration(share * total)}
            </text>
          </g>
        ))}
        {hops.map((hop, at) => (
          <Line key={`${hop.name} ${hop.from}`} hop={hop} y={18 + at * ROW} scale={scale} />
        ))}
      </svg>
      {hops.some(({ guessed }) => guessed) && (
        <figcaption class="muted">
          Pale bars show the order of events only: their time is known for turns that were watched live, or with{' '}
          <code>journal: wire</code> of the route.
        </figcaption>
      )}
    </figure>
  )
}

function Line({ hop: { name, kind, from, to, guessed }, y, scale }: { hop: Hop; y: number; scale: number }) {
  const [x, width] = [LABEL + from * scale, Math.max(2, (to - from) * scale)]
  return (
    <g>
      <title>{plain(name)}</title>
      <text class="name" y={y + 12}>
        {shortened(plain(name))}
      </text>
      <rect
        class={`${kind.replace(' ', '-')}${guessed ? ' guessed' : ''}`}
        x={x}
        y={y + 3}
        width={width}
        height={12}
        rx={2}
      />
      <text class="tick" x={x + width + 5} y={y + 12}>
        {guessed ? '' : duration(to - from)}
      </text>
    </g>
  )
}

function shortened(name: string): string {
  return name.length > 20 ? `${name.slice(0, 19)}…` : name
}
