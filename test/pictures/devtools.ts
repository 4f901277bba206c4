/** A page of a browser, as its developer tools have it. */
export interface Page {
  /** The result of a method of the DevTools protocol. @throws Error with what the browser has against it, or that it is gone */
  ask<Result>(method: string, parameters?: object): Promise<Result>
  /** The value of an expression within the page, as JSON. @throws Error with what it has thrown */
  evaluate<Value>(expression: string): Promise<Value>
  close(): void
}

interface Answer {
  readonly id?: number
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

interface Evaluation {
  readonly result: { readonly value?: unknown }
  readonly exceptionDetails?: { readonly text: string; readonly exception?: { readonly description?: string } }
}

/** `url`: the page's `webSocketDebuggerUrl`. */
export async function openPage(url: string): Promise<Page> {
  const socket = new WebSocket(url)
  const asked = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0
  let gone: Error | undefined
  const opened = Promise.withResolvers<void>()
  socket.addEventListener('open', () => opened.resolve())
  socket.addEventListener('message', ({ data }) => settle(JSON.parse(String(data)) as Answer))
  socket.addEventListener('close', () => {
    gone = new Error(`the browser has closed ${url}`)
    opened.reject(gone)
    for (const { reject } of asked.values()) reject(gone)
  })
  await opened.promise

  /** What has no id is an event, which nobody waits for. */
  function settle({ id = 0, result, error }: Answer): void {
    const waiting = asked.get(id)
    asked.delete(id)
    if (error === undefined) waiting?.resolve(result)
    else waiting?.reject(new Error(error.message))
  }

  async function ask<Result>(method: string, parameters: object = {}): Promise<Result> {
    if (gone !== undefined) throw gone
    const id = ++lastId
    const answer = Promise.withResolvers<unknown>()
    asked.set(id, answer)
    socket.send(JSON.stringify({ id, method, params: parameters }))
    return (await answer.promise) as Result
  }

  async function evaluate<Value>(expression: string): Promise<Value> {
    const { result, exceptionDetails } = await ask<Evaluation>('Runtime.evaluate', { expression, returnByValue: true })
    if (exceptionDetails !== undefined)
      throw new Error(`in the page: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`)
    return result.value as Value
  }

  return { ask, evaluate, close: () => socket.close() }
}
