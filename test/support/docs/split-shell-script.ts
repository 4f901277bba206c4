/**
 * Splits a shell script into simple commands without redirections. Supports only the
 * documentation's syntax, with placeholders like `<name>`.
 */
export function commandsIn(script: string): readonly (readonly string[])[] {
  const commands: string[][] = []
  let words: string[] = []
  let isComment = false
  for (const [token] of script.replaceAll(/\\\n\s*/g, ' ').matchAll(tokens)) {
    if (token === '\n') isComment = false
    if (isComment || /^[ \t]+$/.test(token)) continue
    if (token.startsWith('#')) isComment = true
    else if (/^\d?[<>]/.test(token) && !/^<[\w: -]+>$/.test(token)) continue
    else if (/^[\n|;&()]/.test(token) || token === '$(') {
      if (words.length > 0) commands.push(words)
      words = []
    } else words.push(unquoted(token))
  }
  if (words.length > 0) commands.push(words)
  return commands
}

/** White space, an end of line, an operator, a redirection, or a word with quoted parts. */
const tokens =
  /[ \t]+|\n|&&|\|\||\$\(|[|;&()]|\d?[<>]+(?:&\d| *(?:"[^"]*"|[^\s|;&()]+))|(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|(?!\$\()[^\s|;&()<>'"\\]|[<>])+/g

const unquoted = (token: string): string =>
  token.replaceAll(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g, (_, single, double, escaped) =>
    String(single ?? double?.replaceAll(/\\(.)/g, '$1') ?? escaped),
  )
