import { readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'

// Builds the console into dist/console. File names in assets contain a hash of the content, so
// browsers may cache these files forever.

const folder = import.meta.dirname
const target = resolve(folder, '../../dist/console')
/** Maximum size in bytes of all files, compressed with gzip. The build fails above it. */
const maxBytes = 200 * 1_000

await rm(target, { recursive: true, force: true })
const { metafile } = await build({
  absWorkingDir: folder,
  entryPoints: ['src/main.tsx', 'src/icon.svg'],
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  outdir: join(target, 'assets'),
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  loader: { '.svg': 'copy' },
  jsx: 'automatic',
  jsxImportSource: 'preact',
  define: { 'process.env.NODE_ENV': '"production"' },
  metafile: true,
  logLevel: 'warning',
})
const files = Object.keys(metafile.outputs).map(file => resolve(folder, file))

/** The URL path of the file in assets with this name and ending. */
function addressOf(name: string, ending: string): string {
  const named = files.map(file => file.slice(target.length + 1)).filter(file => file.startsWith(`assets/${name}-`))
  const found = named.filter(file => file.endsWith(ending))
  const [address, ...others] = found
  if (address === undefined || others.length > 0)
    throw new Error(`the build has ${found.length} files assets/${name}-*${ending}; it must have exactly one`)
  return `/console/${address}`
}

const page = (await readFile(join(folder, 'index.html'), 'utf8'))
  .replace('%script%', addressOf('main', '.js'))
  .replace('%style%', addressOf('main', '.css'))
  .replace('%icon%', addressOf('icon', '.svg'))
await writeFile(join(target, 'index.html'), page)

let bytes = 0
for (const file of [...files, join(target, 'index.html')]) {
  const content = await readFile(file)
  const zipped = gzipSync(content, { level: 9 })
  bytes += zipped.length
  await writeFile(`${file}.gz`, zipped)
  await writeFile(
    `${file}.br`,
    brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }),
  )
}
if (bytes > maxBytes) throw new Error(`the console has ${bytes} bytes compressed; the maximum is ${maxBytes}`)
