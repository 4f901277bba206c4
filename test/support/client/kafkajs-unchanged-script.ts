/* A script of an application that uses kafkajs directly as well as the client library. */

interface Steps {
  readonly library: string
  readonly kafkajs: 'before' | 'after' | 'only'
  /** Code that uses the library. The variable `hookline` has its exports. */
  readonly use: string
}

/**
 * A script that prints whether the library leaves the application's kafkajs (exports and codec)
 * unchanged, and a hash of the exports.
 */
export const hostScript = ({ library, kafkajs, use }: Steps): string => `
  import { createHash } from 'node:crypto'
  import { readdirSync } from 'node:fs'
  import { createRequire } from 'node:module'
  import { dirname, join } from 'node:path'
  const require = createRequire(import.meta.url)
  const folder = dirname(require.resolve('kafkajs/package.json'))
  const files = ['index.js', ...readdirSync(join(folder, 'src'), { recursive: true }).filter(name => /\\.js$/.test(name) && !/spec|__/.test(name)).sort().map(name => join('src', name))]
  const codec = () => undefined
  async function load() {
    const imported = (await import('kafkajs')).default
    if (imported !== require('kafkajs')) throw new Error('two instances')
    imported.CompressionCodecs[imported.CompressionTypes.Snappy] = codec
    const found = files.map(file => require(join(folder, file)))
    return { found, text: hash(found), codecs: { ...imported.CompressionCodecs }, all: [...everyObject(found)].slice(1) }
  }
  function* everyObject(root, seen = new Set()) {
    if ((typeof root !== 'object' && typeof root !== 'function') || root === null || seen.has(root)) return
    seen.add(root)
    yield [root, Object.getOwnPropertyDescriptors(root)]
    for (const key of Reflect.ownKeys(root)) {
      const { value } = Object.getOwnPropertyDescriptor(root, key)
      yield* everyObject(value, seen)
    }
  }
  function hash(found) {
    const digest = createHash('sha256')
    for (const [object, properties] of everyObject(found)) {
      digest.update(typeof object === 'function' ? object.toString() : 'object')
      for (const [key, { value }] of Object.entries(properties)) digest.update(key + typeof value + (Object(value) === value ? '' : String(value)))
    }
    return digest.digest('hex')
  }
  const isSame = (all, now) => all.every(([object, properties]) => Reflect.ownKeys(properties).every(key => {
    const { value } = Object.getOwnPropertyDescriptor(object, key) ?? {}
    return Object.is(value, properties[key].value)
  })) && all.length === now.length && all.every(([object], index) => object === now[index][0])
  const inCache = () => Object.entries(require.cache).filter(([name]) => name.startsWith(folder))
  async function use() {
    const hookline = await import(${JSON.stringify(library)})
    ${use}
  }
  ${kafkajs === 'after' ? 'await use()\n  const none = inCache().length' : 'const none = 0'}
  const before = await load()
  const cached = inCache()
  ${kafkajs === 'before' ? 'await use()' : ''}
  const after = await load()
  const sameCache = cached.length === inCache().length && inCache().every(([name, module], index) => cached[index][0] === name && cached[index][1] === module)
  console.log(JSON.stringify({ none, sameCache, same: isSame(before.all, after.all), sameText: before.text === after.text, files: files.length > 300, text: after.text }))
`
