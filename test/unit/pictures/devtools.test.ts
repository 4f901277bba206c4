import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { openPage, type Page } from '../../pictures/devtools.ts'

interface Request {
  readonly id: number
  readonly method: string
  readonly params: object
}

/** The browser's end of the connection; it opens as soon as it is asked for. */
class ScriptedSocket extends EventTarget {
  static readonly all: ScriptedSocket[] = []
  readonly url: string
  readonly sent: Request[] = []

  constructor(url: string) {
    super()
    this.url = url
    ScriptedSocket.all.push(this)
    queueMicrotask(() => this.dispatchEvent(new Event('open')))
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text))
  }

  say(message: object): void {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }))
  }

  close(): void {
    this.dispatchEvent(new Event('close'))
  }
}

const { WebSocket: real } = globalThis
let page: Page
let browser: ScriptedSocket

beforeEach(async () => {
  globalThis.WebSocket = ScriptedSocket as unknown as typeof WebSocket
  page = await openPage('ws://browser/page')
  browser = ScriptedSocket.all.at(-1) as ScriptedSocket
})
afterEach(() => {
  globalThis.WebSocket = real
})

describe('a page of a browser', () => {
  it('is asked by name, and each answer gets to who has asked for it', async () => {
    const answers = [page.ask('Page.navigate', { url: 'x' }), page.ask('Page.reload')]
    expect(browser.url).toBe('ws://browser/page')
    expect(browser.sent).toEqual([
      { id: 1, method: 'Page.navigate', params: { url: 'x' } },
      { id: 2, method: 'Page.reload', params: {} },
    ])
    browser.say({ method: 'Page.loadEventFired', params: {} })
    browser.say({ id: 2, result: 'second' })
    browser.say({ id: 1, result: 'first' })
    expect(await Promise.all(answers)).toEqual(['first', 'second'])
  })

  it('says what it has against a method', async () => {
    const answer = page.ask('Page.fly')
    browser.say({ id: 1, error: { code: -32_601, message: "'Page.fly' wasn't found" } })
    await expect(answer).rejects.toThrow("'Page.fly' wasn't found")
  })

  it('evaluates an expression', async () => {
    const value = page.evaluate('1 + 1')
    expect(browser.sent).toMatchObject([
      { method: 'Runtime.evaluate', params: { expression: '1 + 1', returnByValue: true } },
    ])
    browser.say({ id: 1, result: { result: { type: 'number', value: 2 } } })
    expect(await value).toBe(2)
  })

  it.each([
    [
      'what the expression has thrown',
      { text: 'Uncaught', exception: { description: 'TypeError: no' } },
      'TypeError: no',
    ],
    ['that it is no expression', { text: 'Uncaught SyntaxError' }, 'Uncaught SyntaxError'],
  ])('says %s', async (_, exceptionDetails, message) => {
    const value = page.evaluate('no()')
    browser.say({ id: 1, result: { result: {}, exceptionDetails } })
    await expect(value).rejects.toThrow(`in the page: ${message}`)
  })

  it('that is closed answers nobody, neither who waits nor who comes later', async () => {
    const waiting = page.ask('Page.reload')
    page.close()
    await expect(waiting).rejects.toThrow('the browser has closed ws://browser/page')
    await expect(page.ask('Page.reload')).rejects.toThrow('the browser has closed ws://browser/page')
  })
})
