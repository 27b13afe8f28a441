import { useState } from 'preact/hooks'
import { size } from '../logic/format.ts'
import { cut, pieces } from '../logic/visible.ts'

/** The characters of a long text that each press shows further. */
const MORE = 100_000

/**
 * Text of a client or an agent: data, never markup. Hidden characters have names, and long text is cut after `limit`
 * characters until the reader asks for more.
 */
export function Text({ value, limit = 4_000 }: { value: string; limit?: number }) {
  const [shown, setShown] = useState(limit)
  const { text, left } = cut(value, shown)
  return (
    <>
      <bdi>{pieces(text).map(({ text, mark }) => (mark === undefined ? text : <Mark name={mark} />))}</bdi>
      {left > 0 && (
        <button type="button" class="more" onClick={() => setShown(shown + MORE)}>
          Show more ({size(left)} characters left)
        </button>
      )}
    </>
  )
}

function Mark({ name }: { name: string }) {
  return (
    <span class="mark" title="a character that cannot be seen">
      {name}
    </span>
  )
}
