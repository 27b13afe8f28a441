// Loads CommonJS files with V8's cached code, including functions that are compiled at their first call, which Node's own
// compile cache leaves out. The first processes that succeed write it to the folder of TURNPIKE_CACHE, if they can, each with the
// functions that it has compiled besides: the first one reads the configuration, which those after it need not, and a stand-in in
// front of a gateway goes another way than one alone. V8 rejects the cache of another V8, and of one with other options, which
// have a cache of their own. ES modules use Node's own cache, which is only switched on for them, because opening it costs a
// stand-in a millisecond.
const { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs')
const { basename, dirname, join, resolve } = require('node:path')
const { Script } = require('node:vm')

// Absolute, so that a later change of the working folder does not matter.
const folder = process.env.TURNPIKE_CACHE && resolve(process.env.TURNPIKE_CACHE)
const options = process.execArgv
  .filter((option) => option.startsWith('--'))
  .join('')
  .replace(/[^\w=.-]/g, '_')
  .slice(0, 100)
const loaded = new Map()
/** The number of processes that write what they have compiled. */
const WRITERS = 3

/** The exports of the file at an absolute path, loaded once. `build` distinguishes it from the same file of another build. */
function load(file, build) {
  if (!loaded.has(file)) loaded.set(file, run(file, build))
  return loaded.get(file)
}
exports.load = load

function run(file, build) {
  const kept = folder && join(folder, `${basename(file)}-${build}-${process.version}-${process.arch}${options}`)
  const source = `(function(exports,require,module,__filename,__dirname){${readFileSync(file, 'utf8')}\n})`
  const { cachedData, writers } = kept ? newest(kept) : {}
  const script = new Script(source, { filename: file, cachedData })
  const number = script.cachedDataRejected ? writers : writers + 1
  // A process that failed has compiled only a part, and what is written stays.
  if (number <= WRITERS) process.once('exit', (code) => code === 0 && write(kept, number, script))
  const near = (path) => {
    if (!path.startsWith('./')) return require(path)
    const other = join(dirname(file), path)
    if (path.endsWith('.cjs')) return load(other, build)
    if (folder) require('node:module').enableCompileCache?.(folder)
    return require(other)
  }
  const module = { exports: {} }
  script.runInThisContext()(module.exports, near, module, file, dirname(file))
  return module.exports
}

/** The code that the most processes have written, and how many they were. */
function newest(kept) {
  for (let writers = WRITERS; writers > 0; writers -= 1) {
    try {
      return { cachedData: readFileSync(`${kept}.${writers}`), writers }
    } catch {
      // Not yet.
    }
  }
  return { writers: 0 }
}

function write(kept, writers, script) {
  try {
    // Its parents are not made: where they are gone, so is the program, and a recursive mkdir may never return then.
    if (!existsSync(folder)) mkdirSync(folder)
    const unfinished = `${kept}-${process.pid}`
    writeFileSync(unfinished, script.createCachedData())
    renameSync(unfinished, `${kept}.${writers}`)
    rmSync(`${kept}.${writers - 1}`, { force: true })
  } catch {
    // Not writable: then it is compiled each time.
  }
}
