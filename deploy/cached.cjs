// Loads CommonJS files with what V8 has made of them before: also of the functions that are compiled when they are first
// called, which Node's own compile cache leaves out. That is kept in the folder which TURNPIKE_CACHE names, where it can
// be written to, by the first process that had none; V8 itself refuses what another V8 has made. ES modules are for
// Node's own cache, which is switched on for them alone: to open it takes a stand-in a millisecond.
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs')
const { basename, dirname, join, resolve } = require('node:path')
const { Script } = require('node:vm')

// Absolute, so that it does not matter what becomes of the working folder.
const folder = process.env.TURNPIKE_CACHE && resolve(process.env.TURNPIKE_CACHE)
const loaded = new Map()

/** The exports of the file at an absolute path, loaded once. `build` distinguishes it from the same file of another build. */
function load(file, build) {
  if (!loaded.has(file)) loaded.set(file, run(file, build))
  return loaded.get(file)
}
exports.load = load

function run(file, build) {
  const kept = folder && join(folder, `${basename(file)}-${build}-${process.version}-${process.arch}`)
  const source = `(function(exports,require,module,__filename,__dirname){${readFileSync(file, 'utf8')}\n})`
  const cachedData = kept && read(kept)
  const script = new Script(source, { filename: file, cachedData })
  if (kept && (!cachedData || script.cachedDataRejected)) process.once('exit', () => write(kept, script))
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
