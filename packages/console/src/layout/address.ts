/** The path of the console at the operator listener. */
export const consoleBase = '/console'

/**
 * The decoded part of the address of the browser after a path of the console, for example the id in
 * `/console/messages/<id>`. The router decodes only some characters, so an id with `%` or `/` would
 * change. A text that is not encoded correctly stays as it is.
 */
export function restOfAddress(pathname: string, path: string): string {
  const rest = pathname.slice(`${consoleBase}${path}/`.length)
  try {
    return decodeURIComponent(rest)
  } catch {
    return rest
  }
}
