/**
 * Calls `take` with every line of stdin. A line ends at LF only: `node:readline` would also cut at U+2028 and U+2029,
 * which are text inside a JSON string.
 */
export function onLine(take) {
  let rest = ''
  process.stdin.setEncoding('utf8')
  process.stdin.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (const line of lines) take(line)
  })
  process.stdin.on('end', () => rest && take(rest))
}
