// Refuses, in one line, a system that the program cannot run on, before anything else is loaded: an older Node.js lacks
// modules that the program loads, and reports that as an error of something else. `npm start` runs this file by itself.
const { platform, versions } = process

/** Why this system is refused, with what to do instead; undefined when it is not. */
function refusal(system, version, smallest) {
  if (system === 'win32')
    return 'Windows is only supported through WSL: run "wsl --install" once, then the same command in its shell'
  const [major, minor] = version.split('.').map(Number)
  if (smallest === undefined || major > smallest[0] || (major === smallest[0] && minor >= smallest[1])) return undefined
  return `Node.js ${version} is too old; ${smallest.join('.')} or newer is needed: install it (nvm install 24, or https://nodejs.org)`
}
exports.refusal = refusal

/** Ends the process when this system is refused. `smallest`: the smallest version of Node.js, [major, minor]; any when absent. */
exports.requireSupported = (smallest) => {
  const why = refusal(platform, versions.node, smallest)
  if (why === undefined) return
  process.stderr.write(`turnpike: ${why}\n`)
  process.exit(3)
}

if (require.main === module) exports.requireSupported()
