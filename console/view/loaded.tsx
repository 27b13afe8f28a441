import { useCallback, useEffect, useState } from 'preact/hooks'
import { messageOf } from '../state/api.ts'
import { Text } from './text.tsx'

/** The data that a page has loaded so far. */
export interface Loaded<T> {
  value?: T
  problem?: string
  /** Loads again. What was loaded stays until then. */
  again(): void
}

/** Loads something when the page opens and whenever `inputs` change; `everyMs` repeats it. */
export function useLoaded<T>(load: () => Promise<T>, inputs: readonly unknown[], everyMs?: number): Loaded<T> {
  const [state, setState] = useState<{ value?: T; problem?: string }>({})
  const [times, setTimes] = useState(0)
  useEffect(() => {
    let isOpen = true
    load().then(
      (value) => isOpen && setState({ value }),
      (error) => isOpen && setState((before) => ({ ...before, problem: messageOf(error) })),
    )
    const timer = everyMs === undefined ? undefined : setTimeout(() => setTimes((before) => before + 1), everyMs)
    return () => {
      isOpen = false
      clearTimeout(timer)
    }
  }, [...inputs, times])
  const again = useCallback(() => setTimes((before) => before + 1), [])
  return { ...state, again }
}

/** Says what went wrong. */
export function Problem({ text }: { text: string }) {
  return (
    <p class="problem" role="alert">
      <Text value={text} />
    </p>
  )
}

/** Shows what could not be loaded, or that it is still loading. */
export function Pending({ loaded }: { loaded: Loaded<unknown> }) {
  if (loaded.problem !== undefined) return <Problem text={loaded.problem} />
  return loaded.value === undefined ? (
    <p class="muted" role="status">
      Loading…
    </p>
  ) : null
}
