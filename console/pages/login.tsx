import { useState } from 'preact/hooks'
import { messageOf } from '../state/api.ts'
import { logIn } from '../state/me.ts'
import { Icon } from '../view/icon.tsx'
import { Problem } from '../view/loaded.tsx'

/** Asks for a key. The browser keeps a cookie that stands for it, never the key. */
export function LoginPage() {
  const [problem, setProblem] = useState<string | undefined>()
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const key = String(new FormData(form).get('key'))
    logIn(key).catch((error) => setProblem(messageOf(error)))
  }
  return (
    <main class="login">
      <form onSubmit={submit}>
        <h1>
          <Icon name="logo" /> Turnpike
        </h1>
        <label>
          Key
          <input name="key" type="password" autocomplete="current-password" required autofocus />
        </label>
        {problem !== undefined && <Problem text={problem} />}
        <button type="submit" class="primary">
          Log in
        </button>
        <p class="muted">One of the keys of this gateway (server.keys). You see what the key may see.</p>
      </form>
    </main>
  )
}
