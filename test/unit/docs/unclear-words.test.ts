import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { allPages, checkout } from '../../support/docs/pages.ts'
import { proseOfPage, proseOfTypeScript, proseOfYaml } from '../../support/docs/prose-and-comments-without-code.ts'
import { explain, unclearWords, unclearWordsIn } from '../../support/docs/unclear-words.ts'

/*
 * Checks that no page, comment or user-facing string has a word of the list in
 * test/support/docs/unclear-words.ts.
 */

const textAt = (path: string): string => readFileSync(join(checkout, path), 'utf8')

/** Whether the strings of a file reach users. Those of `test/tools` are in published tables. */
const isUserFacing = (path: string): boolean => /^(src|packages|deploy\/tools|test\/tools(?!.*\/test\/))\//.test(path)

/** YAML files with the texts of alerts. */
const rules = 'deploy/helm/hookline/files/rules/'

function proseAt(path: string): string {
  if (path.endsWith('.md')) return proseOfPage(textAt(path))
  if (path.endsWith('.ts')) return proseOfTypeScript(textAt(path), isUserFacing(path))
  return path.startsWith(rules) ? textAt(path) : proseOfYaml(textAt(path))
}

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(join(checkout, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => ['.ts', '.yaml'].includes(extname(name)) && !/(^|\/)(node_modules|dist)\//.test(name))
    .map(name => join(folder, name))
    .sort()

const findingsIn = (paths: readonly string[]): readonly string[] =>
  paths.flatMap(path => unclearWordsIn(path, proseAt(path)).map(finding => explain(path, finding)))

describe('no unclear word', () => {
  it('in a page', () => expect(findingsIn(allPages().map(({ path }) => path))).toEqual([]))

  it.each(['src', 'packages', 'deploy', 'test'])('in a text of %s', folder => {
    expect(findingsIn(filesBelow(folder))).toEqual([])
  })
})

describe('the list', () => {
  const found = (text: string) => unclearWordsIn('a.md', text).map(finding => explain('a.md', finding))

  it.each<[string, string[]]>([
    ['All requests fail immediately, at least once.', []],
    ['One.\nFails at\n once.', ['a.md:2: "at once": write "immediately" or "concurrently"; two meanings']],
    ['There is no\n  attempt. It is no\n  longer here.', []],
  ])('%j', (text, findings) => expect(found(text)).toEqual(findings))

  it('has only exceptions that are needed', () => {
    const excepted = unclearWords.flatMap(word =>
      Object.keys(word.except ?? {}).map(path => ({ path, word: { ...word, except: {} } })),
    )
    expect(excepted.filter(({ path, word }) => unclearWordsIn(path, proseAt(path), [word]).length === 0)).toEqual([])
  })
})

/** The words of a text without the character `¦`, which replaces code. */
const wordsOf = (prose: string): string => prose.replaceAll(/[¦\s]+/g, ' ').trim()

describe('the prose', () => {
  it('of a page has no examples, code spans and link targets', () => {
    const page = 'One `two` [three](four.md).\n\n```sh\nfive\n```\n\nSix.\n'
    expect(wordsOf(proseOfPage(page))).toBe('One `___` [three . Six.')
  })

  it('of a page has no tables of published runs', () => {
    expect(wordsOf(proseOfPage('One.\n\n<!-- chaos -->\n| two |\n<!-- end of chaos -->\n\nThree.\n'))).toBe(
      'One. Three.',
    )
  })

  it('of a YAML file is its comments', () => {
    expect(wordsOf(proseOfYaml("# One.\ntwo: 'three#four' # Five\nsix: 7\n"))).toBe('One. Five')
  })

  it.each([
    ['// One\n// two\nthree()', 'One two'],
    ['/**\n * One\n * two `three`.\n */', 'One two `_____`.'],
    ["const one = 'two three' // four", 'two three four'],
    ["import 'one'", ''],
    [`f(\`one \${g({ two: \`three \${four}\` })} five\`)`, 'one three five'],
    ["x.replace(/'/g, '') // one's", "one's"],
    ["a / b / c // it's", "it's"],
  ])('of %j is %j', (code, prose) => expect(wordsOf(proseOfTypeScript(code, true))).toBe(prose))

  it('leaves out strings where they reach no user', () => {
    expect(wordsOf(proseOfTypeScript("it('one two') // three", false))).toBe('three')
  })

  it('keeps the lines', () => {
    const code = "// One\nf(`two\n\nthree`)\n/* four\n */ f('a b')\n"
    expect(proseOfTypeScript(code, true).split('\n').length).toBe(code.split('\n').length)
  })
})
