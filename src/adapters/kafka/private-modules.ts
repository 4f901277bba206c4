import { createRequire } from 'node:module'
import { dirname, sep } from 'node:path'

/* Hookline's own instance of kafkajs, made from the same files: other users of kafkajs in the process do not see what Hookline replaces in it. */

const require = createRequire(import.meta.url)
const folder = `${dirname(require.resolve('kafkajs/package.json'))}${sep}`
/** By file name; all of them are loaded, or being loaded. */
const ours = new Map<string, NodeModule>()

/**
 * The module of one of kafkajs's files, from our instance. Never ask for its main file: agents that
 * trace an application hook that one, and hand out the application's instance.
 */
export function privateModule(id: string): NodeModule {
  const file = require.resolve(id)
  const found = ours.get(file) ?? load(file)
  if (found === undefined) throw new Error(`${id} is not in the module cache: is require() replaced in this process?`)
  return found
}

/**
 * Node keeps one instance of each file in `require.cache`. So during a load, which nothing can
 * interrupt, only our modules of kafkajs are in there; afterwards those from before are there again.
 */
function load(file: string): NodeModule | undefined {
  const { cache } = require
  const others = takeOut()
  for (const [name, module] of ours) cache[name] = module
  try {
    require(file)
  } finally {
    for (const [name, module] of takeOut()) {
      if (!ours.has(name)) keepPrivate(module)
      ours.set(name, module)
    }
    for (const [name, module] of others) cache[name] = module
  }
  return ours.get(file)
}

/** Jest's cache ignores changes: there each test file has an instance of its own anyway. */
function takeOut(): readonly (readonly [string, NodeModule])[] {
  const { cache } = require
  const taken: [string, NodeModule][] = []
  for (const name of Object.keys(cache)) {
    const module = name.startsWith(folder) ? cache[name] : undefined
    if (module === undefined) continue
    taken.push([name, module])
    delete cache[name]
  }
  return taken
}

/** kafkajs loads the code of a request when it makes the first of a kind, and asks for it again with each one. */
function keepPrivate(module: NodeModule): void {
  const local = createRequire(module.filename)
  const known = new Map<string, NodeModule>()
  const requirePrivate = (id: string): unknown => {
    const before = known.get(id)
    if (before !== undefined) return before.exports
    const file = local.resolve(id)
    if (!file.startsWith(folder)) return local(id)
    const found = privateModule(file)
    known.set(id, found)
    return found.exports
  }
  // Jest's modules refuse it, and need it no more than the cache's change.
  Reflect.set(module, 'require', requirePrivate)
}
