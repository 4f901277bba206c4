import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect } from '@jest/globals'
import { checkout } from './pages.ts'

type Shown = Readonly<
  Record<'Node' | 'Go' | 'Java', string> & { readonly Python?: string; readonly Perl?: string; readonly Shell?: string }
>

export interface Case {
  readonly what: string
  readonly body: Buffer
  readonly genuine: boolean
}

interface Language {
  readonly name: string
  /** The files with the example, by name. None for Java: `program` contains the example. */
  readonly files: Readonly<Record<string, string>>
  /**
   * Program in `test/fixtures/run-signature-examples` that runs the example. Each line of its stdin
   * is one case.
   */
  readonly program: string
  readonly command: readonly [string, ...string[]]
}

export interface SignatureExamples {
  readonly folder: string
  readonly languages: readonly Language[]
  /**
   * Checks that a program accepts exactly the genuine cases. The program gets one line for each
   * case: the file of the body, and the fields that `fieldsOf` returns.
   */
  check<Any extends Case>(
    command: Language['command'],
    cases: readonly Any[],
    fieldsOf: (each: Any) => readonly (string | number)[],
  ): Promise<void>
}

const fixture = (name: string): string => join(checkout, 'test/fixtures/run-signature-examples', name)

/**
 * Writes a page's examples and the programs that run them (`<program>.*`) to a folder, which is
 * removed after all tests.
 */
export async function installExamples(page: string, program: string, shown: Shown): Promise<SignatureExamples> {
  const folder = await mkdtemp(join(tmpdir(), 'hookline-signatures-'))
  afterAll(() => rm(folder, { recursive: true }))
  const languages = languagesOf(program, shown)
  for (const { files, program: file } of languages) {
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
    if (file.endsWith('.java')) await writeFile(join(folder, file), await javaProgram(file, shown.Java))
    else await copyFile(fixture(file), join(folder, file))
  }
  return {
    folder,
    languages,
    async check(command, cases, fieldsOf) {
      const lines = cases.map((each, index) => [`body-${index}`, ...fieldsOf(each)].join('\t'))
      await Promise.all(cases.map(({ body }, index) => writeFile(join(folder, `body-${index}`), body)))
      const answers = await run(page, folder, command, `${lines.join('\n')}\n`)
      expect(cases.map(({ what }, index) => `${what}: ${answers[index]}`)).toEqual(
        cases.map(({ what, genuine }) => `${what}: ${genuine}`),
      )
    },
  }
}

function languagesOf(name: string, { Node, Python, Go, Perl, Shell }: Shown): readonly Language[] {
  const language = (title: string, command: Language['command'], files: Language['files'] = {}): Language => ({
    ...{ name: title, files, command },
    program: command.find(word => word.startsWith(`${name}.`) || word.endsWith('.java')) ?? '',
  })
  const javaFile = `${name.replace(/^./, first => first.toUpperCase())}.java`
  return [
    language('Node', [process.execPath, `${name}.mjs`], { 'is-genuine.mjs': Node }),
    ...(Python === undefined ? [] : [language('Python', ['python3', `${name}.py`], { 'is_genuine.py': Python })]),
    language('Go', ['go', 'run', `${name}.go`, 'signature.go'], { 'signature.go': `package main\n\n${Go}` }),
    language('Java', ['java', javaFile]),
    ...(Perl === undefined ? [] : [language('Perl', ['perl', `${name}.pl`], { 'is_genuine.pl': `${Perl}1;\n` })]),
    ...(Shell === undefined ? [] : [language('Shell', ['sh', `${name}.sh`], { 'is-genuine.sh': Shell })]),
  ]
}

/**
 * Joins the program and the example: Java runs the first class of one file, and imports must
 * precede all classes.
 */
async function javaProgram(file: string, example: string): Promise<string> {
  const imports = /^import .*;\n/gm
  const parts = [await readFile(fixture(file), 'utf8'), example]
  const hoisted = parts.flatMap(part => [...part.matchAll(imports)].map(([line]) => line))
  const statics = (line: string): number => (line.startsWith('import static') ? 0 : 1)
  const ordered = [...new Set(hoisted)].sort((a, b) => statics(a) - statics(b))
  return [...ordered, ...parts.map(part => part.replaceAll(imports, ''))].join('')
}

async function run(
  page: string,
  cwd: string,
  [command, ...words]: Language['command'],
  input: string,
): Promise<readonly string[]> {
  const env = { ...process.env, GOTOOLCHAIN: 'local', GO111MODULE: 'on' }
  const child = spawn(command, words, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
  const failed = once(child, 'error').then(() => {
    throw new Error(`${command} is not installed: an example of ${page} cannot be run`)
  })
  child.stdin.on('error', () => undefined).end(input)
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const [out, err, [code]] = await Promise.race([ended, failed])
  if (code !== 0) throw new Error(`${command} ${words.join(' ')} ended with ${code}\n${err}`)
  return out.trimEnd().split('\n')
}
