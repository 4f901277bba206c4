import { afterEach } from '@jest/globals'

/** What a test opens it hands in; after the test everything is closed in reverse, whatever happened. */
export function closingAfterEach(): <T extends { close(): Promise<unknown> }>(opened: T) => T {
  const open: { close(): Promise<unknown> }[] = []
  afterEach(async () => {
    for (let each = open.pop(); each !== undefined; each = open.pop()) await each.close()
  })
  return opened => {
    open.push(opened)
    return opened
  }
}
