import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import type { PanelSeen } from '../../pictures/drawn.ts'

const { JSDOM } = createRequire(import.meta.url)('jsdom')
const script = readFileSync(join(import.meta.dirname, '../../pictures/look.mjs'), 'utf8')

/** A canvas of jsdom has no pixels: here each says in its `data-pixels` which it has. */
function look(content: string): PanelSeen {
  const { window } = new JSDOM(`<div data-panelid="7">${content}</div>`, { runScripts: 'outside-only' })
  window.HTMLCanvasElement.prototype.getContext = function (this: { dataset: { pixels: string } }) {
    return { getImageData: () => ({ data: this.dataset.pixels.split(',').map(Number) }) }
  }
  const [seen] = window.eval(script)
  // It was made within the page, by whose own constructors nothing here is.
  return { ...seen }
}

const blank: PanelSeen = { id: 7, isLoading: false, hasFailed: false, isPainted: false, text: '' }
const header = '<div data-testid="header-container"><h6>Records behind</h6></div>'

describe('what is to be seen of a panel', () => {
  it.each<[string, string, Partial<PanelSeen>]>([
    ['nothing yet', '', {}],
    ['its title, which is no text of it', header, {}],
    ['a bar while it is loading', `<div aria-label="Panel loading bar"></div>${header}`, { isLoading: true }],
    ['what went wrong', `${header}<button aria-label="Panel status"></button>`, { hasFailed: true }],
    ['a canvas on which nothing is painted', `${header}<canvas data-pixels="0,0,0,0"></canvas>`, {}],
    ['a canvas that has no room yet', `${header}<canvas width="0" data-pixels="1"></canvas>`, {}],
    ['a canvas with a point', `${header}<canvas data-pixels="0,0,0,255"></canvas>`, { isPainted: true }],
    ['text below the title', `${header}<div> No data </div>`, { text: 'No data' }],
    ['text without a title', '<div>4 s</div>', { text: '4 s' }],
  ])('%s', (_, content, seen) => {
    expect(look(content)).toEqual({ ...blank, ...seen })
  })
})
