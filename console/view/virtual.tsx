import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { windowOf } from '../logic/window.ts'

interface VirtualProps<T> {
  rows: readonly T[]
  /** Draws one row; `index` is its place in the list. */
  children(row: T, index: number): ComponentChildren
  /** The reader is near the end. */
  onEnd?(): void
  /** The reader has scrolled away from the first row, or back. */
  onAway?(isAway: boolean): void
}

/** A list that draws only the rows in sight. All rows have the height `--row` of the style sheet. */
export function Virtual<T>({ rows, children, onEnd, onAway }: VirtualProps<T>) {
  const frame = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, frame: 800, height: 40 })
  const measure = (): void => {
    const { scrollTop, clientHeight } = frame.current!
    const height = Number.parseFloat(getComputedStyle(frame.current!).getPropertyValue('--row')) || 40
    setView({ top: scrollTop, frame: clientHeight, height })
    onAway?.(scrollTop > height)
    if (scrollTop + 2 * clientHeight > rows.length * height) onEnd?.()
  }
  useLayoutEffect(() => {
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(frame.current!)
    return () => observer.disconnect()
  }, [])
  const { from, to } = windowOf(rows.length, view.height, view.top, view.frame)
  return (
    <div class="virtual" ref={frame} onScroll={measure} onKeyDown={moveFocus} role="rowgroup" tabIndex={0}>
      <div style={{ height: `${from * view.height}px` }} />
      {rows.slice(from, to).map((row, at) => children(row, from + at))}
      <div style={{ height: `${(rows.length - to) * view.height}px` }} />
    </div>
  )
}

/** The arrow keys move between the links of the rows; from the list itself they go to the first one in sight. */
function moveFocus(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('a.cover')]
  const top = event.currentTarget.getBoundingClientRect().top
  const at = links.indexOf(document.activeElement as HTMLElement)
  const next = at < 0 ? links.findIndex((link) => link.getBoundingClientRect().top >= top) : at + step
  links[next]?.focus()
  event.preventDefault()
}
