import { useState } from 'preact/hooks'

/** A button that copies a text, which is only made when it is pressed. */
export function Copy({ label, text, title }: { label: string; text(): string; title?: string }) {
  const [done, setDone] = useState<string | undefined>()
  const copy = async (): Promise<void> => {
    setDone((await copied(text())) ? 'Copied' : 'The browser does not allow it')
    setTimeout(() => setDone(undefined), 2_000)
  }
  return (
    <button type="button" class="copy" title={title} onClick={() => void copy()}>
      <span aria-live="polite">{done ?? label}</span>
    </button>
  )
}

/** Copies a text, also on pages without TLS, where browsers have no clipboard for scripts. */
async function copied(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  }
  const field = document.createElement('textarea')
  field.value = text
  document.body.append(field)
  field.select()
  const done = document.execCommand('copy')
  field.remove()
  return done
}
