/** A flame graph as SVG, from a profile that V8 wrote (`node --cpu-prof`). */

/** The part of a `.cpuprofile` that is needed. Times in microseconds. */
export interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[]
  samples: number[]
  timeDeltas: number[]
}

interface Frame {
  name: string
  place: Place
  micros: number
  below: Map<string, Frame>
}

/** Where a function is from, with the colour it is drawn in. */
const COLOURS = {
  codecs: '#e9a13b',
  engine: '#d9573f',
  store: '#8f5bb5',
  routes: '#5b8fd0',
  backends: '#4fa06a',
  gateway: '#c98b70',
  libraries: '#8a9bab',
  node: '#c4ccd4',
} as const
type Place = keyof typeof COLOURS

const WIDTH = 1200
const ROW = 17
/** What is narrower than this share of the whole is left out. */
const LEAST = 0.004

/** The flame graph of the last `seconds` of a profile, without the time in which nothing ran. `title` heads it. */
export function flameGraph(profile: CpuProfile, seconds: number, title: string): string {
  const root = treeOf(profile, seconds * 1e6)
  const rects: string[] = []
  const depth = draw(root, 0, 0, root.micros, rects)
  const height = (depth + 3) * ROW
  const legend = Object.entries(COLOURS).map(
    ([place, colour], at) => `<text x="${8 + at * 90}" y="${height - 5}" fill="${colour}">■ ${place}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="11">
<title>${escaped(title)}</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/><text x="8" y="12">${escaped(title)}</text>
${[...rects, ...legend].join('\n')}
</svg>
`
}

/** What share of the last `seconds` of a profile was spent in functions of each place itself, in percent, the most first. */
export function sharesOf(profile: CpuProfile, seconds: number): [place: string, percent: number][] {
  const root = treeOf(profile, seconds * 1e6)
  const own = new Map<string, number>()
  const visit = (frame: Frame): void => {
    let inside = frame.micros
    for (const below of frame.below.values()) {
      inside -= below.micros
      visit(below)
    }
    const of = frame.name === '(garbage collector)' ? 'garbage collection' : frame.place
    own.set(of, (own.get(of) ?? 0) + inside)
  }
  visit(root)
  return [...own].sort((a, b) => b[1] - a[1]).map(([place, micros]) => [place, (micros / root.micros) * 100])
}

function treeOf({ nodes, samples, timeDeltas }: CpuProfile, micros: number): Frame {
  const parents = new Map<number, number>()
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id)
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const root: Frame = { name: 'all', place: 'gateway', micros: 0, below: new Map() }
  let left = micros
  for (let at = samples.length - 1; at >= 0 && left > 0; at -= 1) {
    const spent = timeDeltas[at]!
    left -= spent
    const path: { name: string; place: Place }[] = []
    for (let id: number | undefined = samples[at]!; id !== undefined; id = parents.get(id)) {
      const { functionName, url } = byId.get(id)!.callFrame
      path.unshift({ name: functionName || '(anonymous)', place: placeOf(url) })
    }
    if (path.at(-1)!.name !== '(idle)') add(root, path.slice(1), spent)
  }
  return root
}

function add(root: Frame, path: readonly { name: string; place: Place }[], micros: number): void {
  let frame = root
  frame.micros += micros
  for (const { name, place } of path) {
    const key = `${place} ${name}`
    const known = frame.below.get(key) ?? { name, place, micros: 0, below: new Map() }
    frame.below.set(key, known)
    known.micros += micros
    frame = known
  }
}

/** Draws a frame and what it called; gives the depth that it reached. */
function draw(frame: Frame, x: number, depth: number, all: number, rects: string[]): number {
  const width = (frame.micros / all) * WIDTH
  const share = ((frame.micros / all) * 100).toFixed(1)
  const y = (depth + 1) * ROW
  const room = Math.floor(width / 6.7) - 1
  const label = room > 2 ? `<text x="${round(x + 2)}" y="${y + 12}">${escaped(frame.name.slice(0, room))}</text>` : ''
  const box = `<rect x="${round(x)}" y="${y}" width="${round(width)}" height="${ROW - 1}" fill="${COLOURS[frame.place]}"/>`
  rects.push(`<g><title>${escaped(frame.name)}: ${share} %</title>${box}${label}</g>`)
  let [deepest, at] = [depth, x]
  for (const below of [...frame.below.values()].sort((a, b) => b.micros - a.micros)) {
    if (below.micros / all < LEAST) break
    deepest = Math.max(deepest, draw(below, at, depth + 1, all, rects))
    at += (below.micros / all) * WIDTH
  }
  return deepest
}

function placeOf(url: string): Place {
  if (url.startsWith('node:') || url === '') return 'node'
  if (url.includes('/node_modules/')) return 'libraries'
  const part = /\/(codecs|routes|src\/(?:engine|store|backends))\//.exec(url)?.[1]
  return part ? (part.replace('src/', '') as Place) : 'gateway'
}

const round = (value: number): number => Math.round(value * 10) / 10
const escaped = (text: string): string => text.replace(/[<>&]/g, (sign) => `&#${sign.charCodeAt(0)};`)
