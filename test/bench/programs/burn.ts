/** Works for so many milliseconds without a pause; says which share of that time it really had a processor. argv: milliseconds. */
const ms = Number(process.argv[2])
const begin = performance.now()
const before = process.cpuUsage()
let sum = 0
while (performance.now() - begin < ms) for (let n = 0; n < 10_000; n += 1) sum += n % 7
const { user, system } = process.cpuUsage(before)
process.stdout.write(`${JSON.stringify({ had: (user + system) / 1000 / (performance.now() - begin), sum })}\n`)
