/** Opens a URL in the user's browser. `failed` is called with the reason when no program here can do it. */
export async function openBrowser(url: string, failed: (why: string) => void): Promise<void> {
  const { spawn } = await import('node:child_process')
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const child = spawn(program, [url], { stdio: 'ignore', detached: true })
  child.once('error', () => failed(`${program} could not be started`))
  child.once('exit', (code) => code && failed(`${program} ended with exit code ${code}`))
  child.unref()
}
