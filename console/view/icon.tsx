import type { PageName } from '../logic/route.ts'

/** The strokes of each icon, on a field of 16 by 16. */
const STROKES: Readonly<Record<PageName | 'logo', string>> = {
  logo: 'M2 5h8M2 11h8M12.5 7a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM12.5 13a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  overview: 'M2.5 13.5h11M4 11V8M8 11V3.5M12 11V6',
  turns: 'M2.5 4h11M2.5 8h7M2.5 12h9',
  try: 'M4.5 3.5v9l8-4.5z',
  sessions: 'M3 3.5h10v7H8l-3 2.5v-2.5H3z',
  agents: 'M4 5.5h8v7H4zM8 5.5V3M6.5 8.5v1M9.5 8.5v1',
  matrix: 'M2.5 2.5h11v11h-11zM2.5 6.2h11M2.5 9.8h11M6.2 2.5v11M9.8 2.5v11',
}

/** A small drawing that only decorates: its neighbour says what it means. */
export function Icon({ name }: { name: PageName | 'logo' }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={STROKES[name]} />
    </svg>
  )
}
