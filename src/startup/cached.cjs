// Loads CommonJS files with V8's cached code, including functions that are compiled at their first call, which Node's own
// compile cache leaves out. The first process without cached code that succeeds writes it to the folder of TURNPIKE_CACHE, if it can;
// V8 rejects the cache of another V8, and of one with other options, which have a cache of their own. ES modules use Node's own
// cache, which is only switched on for them, because opening it costs a stand-in a millisecond.
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs')
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

/** The exports of the file at an absolute path, loaded once. `build` distinguishes it from the same file of another build. */
function load(file, build) {
  if (!loaded.has(file)) loaded.set(file, run(file, build))
  return loaded.get(file)
}
exports.load = load

function run(file, build) {
  const kept = folder && join(folder, `${basename(file)}-${build}-${process.version}-${process.arch}${options}`)
  const source = `(function(exports,require,module,__filename,__dirname){${readFileSync(file, 'utf8')}\n})`
  const cachedData = kept && read(kept)
  const script = new Script(source, { filename: file, cachedData })
  // A process that failed has compiled only a part, and what is written stays.
  if (kept && (!cachedData || script.cachedDataRejected))
    process.once('exit', (code) => code === 0 && write(kept, script))
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

function read(path) {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

function write(path, script) {
  try {
    // Its parents are not made: where they are gone, so is the program, and a recursive mkdir may never return then.
    if (!existsSync(folder)) mkdirSync(folder)
    writeFileSync(`${path}.${process.pid}`, script.createCachedData())
    renameSync(`${path}.${process.pid}`, path)
  } catch {
    // Not writable: then it is compiled each time.
  }
}
