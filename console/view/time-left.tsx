import { useEffect, useState } from 'preact/hooks'
import { duration } from '../logic/format.ts'

/** The time for which a question can still be answered. */
export function TimeLeft({ until }: { until: number }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  return <p class="muted">Without an answer it is denied in {duration(Math.max(0, until - now))}.</p>
}
