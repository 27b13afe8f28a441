import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/** Sends the answer to a question; `body` is that of `POST /v1/turns/ID/approvals/ASK`. */
export type Answer = (body: unknown) => void

/** A question that one text answers. */
export function OneField({
  label,
  answer,
  children,
}: {
  label: string
  answer(value: string): void
  children: ComponentChildren
}) {
  const [value, setValue] = useState('')
  const submit = (event: Event): void => {
    event.preventDefault()
    answer(value)
  }
  return (
    <form onSubmit={submit}>
      <p>{children}</p>
      <label>
        <span>{label}</span>
        <textarea rows={3} value={value} onInput={(event) => setValue(event.currentTarget.value)} />
      </label>
      <button type="submit" class="primary">
        Answer
      </button>
    </form>
  )
}
