import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { allPages, checkout, codeSpansOf, type Page, pageAt, withoutFences } from '../../support/docs/pages.ts'

/*
 * Checks that the links of every page work, and that links lead from docs/README.md to every page.
 */

const pages = allPages()

/** The anchors of the headings of a page, as GitHub forms them. */
function anchorsOf({ text }: Page): ReadonlySet<string> {
  const seen = new Map<string, number>()
  const headings = [...withoutFences(text).matchAll(/^#{1,6} +(.*?) *$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map(heading => {
      const shown = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
      const slug = shown.replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '').replaceAll(' ', '-')
      const times = seen.get(slug) ?? 0
      seen.set(slug, times + 1)
      return times === 0 ? slug : `${slug}-${times}`
    }),
  )
}

const linksOf = ({ text }: Page): readonly string[] =>
  [
    ...withoutFences(text)
      .replaceAll(/`[^`\n]*`/g, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ]
    .map(([, target = '']) => target)
    .filter(target => !/^https?:/.test(target))

const fileOf = (page: Page, link: string): string => {
  const [path = ''] = link.split('#')
  return path === '' ? page.path : normalize(join(dirname(page.path), path))
}

function isBroken(page: Page, link: string): boolean {
  const file = fileOf(page, link)
  const anchor = link.split('#')[1]
  if (!existsSync(join(checkout, file))) return true
  return anchor !== undefined && !anchorsOf(pageAt(file)).has(anchor)
}

describe.each(pages.map(page => ({ path: page.path, page })))('$path', ({ page }) => {
  it('has only links that work', () => {
    expect(linksOf(page).filter(link => isBroken(page, link))).toEqual([])
  })

  it('names only existing files and folders', () => {
    const named = codeSpansOf(page).filter(
      span => /^(src|test|docs|deploy|schemas)\/[\w./-]+$/.test(span) && !span.includes('…'),
    )
    const decisions = readdirSync(join(checkout, 'docs/decisions')).map(name => `docs/decisions/${name.slice(0, 4)}`)
    expect(named.filter(span => !existsSync(join(checkout, span)) && !decisions.includes(span))).toEqual([])
  })

  it('can be reached by links from docs/README.md', () => {
    if (page.path.startsWith('docs/')) expect([...reachable()]).toContain(page.path)
  })
})

function reachable(): ReadonlySet<string> {
  const found = new Set(['docs/README.md'])
  for (const path of found)
    for (const link of linksOf(pageAt(path))) {
      const file = fileOf(pageAt(path), link)
      if (file.endsWith('.md') && existsSync(join(checkout, file)) && statSync(join(checkout, file)).isFile())
        found.add(file)
    }
  return found
}

describe('the test itself', () => {
  const page = { path: 'docs/README.md', text: '# One `a.b` & two\n\n## Twice\n\n## Twice\n' }

  it('names headings as GitHub does', () => {
    expect([...anchorsOf(page)]).toEqual(['one-ab--two', 'twice', 'twice-1'])
  })

  it.each([
    ['a missing file', 'nowhere.md', true],
    ['a missing heading', 'explanation/duplicates.md#nowhere', true],
    ['a heading', 'explanation/duplicates.md#what-a-receiver-does', false],
    ['a folder', 'how-to/', false],
  ])('%s', (_, link, broken) => expect(isBroken(page, link)).toBe(broken))

  it('finds links, except those within code', () => {
    expect(linksOf({ ...page, text: '[a](b.md) `[c](d.md)` [e](https://f.example)\n' })).toEqual(['b.md'])
  })
})

it('no page has the markers of an unresolved merge', () => {
  const marked = pages.filter(({ text }) => /^(<{7}|={7}|>{7})( |$)/m.test(text))
  expect(marked.map(({ path }) => path)).toEqual([])
})
