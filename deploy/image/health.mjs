// Exits with 0 when the gateway at a URL serves, by default the one in this container, else with 1. Needs no shell.
const [url = 'http://127.0.0.1:8484/healthz'] = process.argv.slice(2)
const { ok } = await fetch(url, { signal: AbortSignal.timeout(3000) }).catch(() => ({ ok: false }))
process.exit(ok ? 0 : 1)
