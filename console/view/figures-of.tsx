import type { Replicas } from '../logic/types.ts'

/** Says whose figures a page shows: with replicas, the number of those that have answered. */
export function FiguresOf({ when, replicas }: { when: string; replicas: Replicas | undefined }) {
  if (!replicas) return <span class="muted">{when}</span>
  const { of, answered, missing } = replicas
  if (answered === of) return <span class="muted">{`${when}, of all ${of} replicas`}</span>
  return (
    <span class="partial" title={missing && `No answer from ${missing.join(', ')}`}>
      {`${when}, of ${answered} of ${of} replicas: the others do not answer`}
    </span>
  )
}
