import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { dashboards } from '../../support/dashboards.ts'
import { allPages, checkout, pageAt } from '../../support/pages.ts'

/* Each dashboard has its picture, and a page that shows it. What is in a picture somebody has to look at: `npm run pictures`. */

const folder = 'docs/pictures'
const largestBytes = 1_500_000
const pngSignature = '89504e470d0a1a0a'

const bytesOf = (name: string): Buffer => readFileSync(join(checkout, folder, name))
const cases = dashboards.map(({ uid, title }) => ({ uid, title, file: `${uid}.png` }))

describe.each(cases)('the picture of $uid', ({ file, title }) => {
  it('is a PNG that is wide enough to be read', () => {
    const bytes = bytesOf(file)
    expect(bytes.subarray(0, 8).toString('hex')).toBe(pngSignature)
    // The first chunk is always IHDR, which begins with the width.
    expect(bytes.readUInt32BE(16)).toBe(1_600)
  })

  it('is shown where the dashboard is explained, with its name for who cannot see it', () => {
    expect(pageAt('docs/how-to/monitor.md').text).toContain(`![${title}](../pictures/${file})`)
  })
})

describe('pictures', () => {
  it('are those of dashboards, and README.md shows one', () => {
    expect(readdirSync(join(checkout, folder)).toSorted()).toEqual(cases.map(({ file }) => file).toSorted())
    expect(cases.some(({ file }) => pageAt('README.md').text.includes(`](${folder}/${file})`))).toBe(true)
  })

  it('are small enough for everybody who clones this', () => {
    expect(cases.reduce((sum, { file }) => sum + bytesOf(file).length, 0)).toBeLessThan(largestBytes)
  })

  it('have a text in their place on every page', () => {
    const bare = allPages().filter(({ text }) => /!\[\s*\]\(/.test(text))
    expect(bare.map(({ path }) => path)).toEqual([])
  })
})
