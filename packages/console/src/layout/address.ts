/** The path of the console at the operator listener. */
export const consoleBase = '/console'

/**
 * The part of the browser's address after a path of the console, decoded: for example the id in
 * `/console/messages/<id>`. The router decodes only some characters and would change an id with `%`
 * or `/`, so its parameters are not used. A text that is not encoded correctly stays as it is.
 */
export function restOfAddress(pathname: string, path: string): string {
  const rest = pathname.slice(`${consoleBase}${path}/`.length)
  try {
    return decodeURIComponent(rest)
  } catch {
    return rest
  }
}
