/** The path of the console at the operator listener. */
export const consoleBase = '/console'

/**
 * The decoded part of the browser's address after a path of the console, for example the id in
 * `/console/messages/<id>`. The router's parameters are not used, because the router decodes only
 * some characters: an id with `%` or `/` would differ from the original. A text that is not encoded
 * correctly is returned unchanged.
 */
export function restOfAddress(pathname: string, path: string): string {
  const rest = pathname.slice(`${consoleBase}${path}/`.length)
  try {
    return decodeURIComponent(rest)
  } catch {
    return rest
  }
}
