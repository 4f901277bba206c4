/**
 * The result of `splitJson`. The elements and members are not parsed, so they can be invalid JSON.
 */
export type SplitResult =
  /** A list, or an object whose member named by `SplitOptions.list` is a list. */
  | {
      readonly kind: 'list'
      /** Start (inclusive) and end (exclusive) of each element, in one flat list. */
      readonly elements: readonly number[]
      readonly members: Members
    }
  /** An object. Its member named by `SplitOptions.list` is missing or is not a list. */
  | { readonly kind: 'object'; readonly members: Members }
  /** Another JSON value, or an empty text. */
  | { readonly kind: 'scalar' }
  /** The start or the end of the list or object cannot be found. */
  | { readonly kind: 'broken' }
  | { readonly kind: 'too_many' }

/**
 * The text of each requested member by name, possibly with trailing white space. If a name occurs
 * twice, the last member counts.
 */
export type Members = ReadonlyMap<string, string>

export interface SplitOptions {
  /** Name of the member that holds the list, for a text that is an object. */
  readonly list?: string | undefined
  /** Names of the members to return, besides the list. */
  readonly members: readonly string[]
  /** Maximum number of elements. */
  readonly maxElements: number
  /**
   * Whether to skip unexpected text between the end of the list and the next comma. If not, this
   * text makes the result `broken`.
   */
  readonly skipsTextAfterList?: boolean
}

/**
 * Splits a JSON text into its top-level members or elements in linear time, without parsing them.
 * In broken JSON, a closing bracket also closes each bracket opened after its partner: the `}` in
 * `{"a":[1}` closes the `[` too.
 */
export function splitJson(text: string, options: SplitOptions): SplitResult {
  return new Cutter(text, options).cut()
}

/**
 * Returns the top-level members with these names that it finds in a text, even in a broken one. If
 * `list` names a member that is a list, broken elements of the list do not hide later members.
 */
export function membersIn(text: string, names: readonly string[], list?: string): Members {
  const cutter = new Cutter(text, { list, members: names, maxElements: 0, skipsTextAfterList: true })
  cutter.cut()
  return cutter.members
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const bracket = { open: 0x5b, close: 0x5d } as const
const brace = { open: 0x7b, close: 0x7d } as const

const broken = { kind: 'broken' } as const

class Cutter {
  readonly members = new Map<string, string>()
  readonly #text: string
  readonly #options: SplitOptions
  #elements: number[] | undefined
  #at = 0
  /** Stack of the closing brackets that the current element still needs. */
  #open = new Uint8Array(64)

  readonly #names: readonly string[]

  constructor(text: string, options: SplitOptions) {
    this.#text = text
    this.#options = options
    this.#names = options.list === undefined ? options.members : [...options.members, options.list]
  }

  cut(): SplitResult {
    this.#skipSpace()
    const first = this.#code()
    if (first !== bracket.open && first !== brace.open) return { kind: 'scalar' }
    const failure = first === bracket.open ? this.#cutList() : this.#cutObject()
    if (failure !== undefined) return failure
    this.#skipSpace()
    if (this.#at < this.#text.length) return broken
    const { members } = this
    const elements = this.#elements
    if (elements === undefined) return { kind: 'object', members }
    return elements.length > 2 * this.#options.maxElements ? { kind: 'too_many' } : { kind: 'list', elements, members }
  }

  #cutObject(): SplitResult | undefined {
    this.#step()
    if (this.#code() === brace.close) return this.#end(brace.close)
    for (;;) {
      const name = this.#code() === quote ? this.#name() : undefined
      if (name === undefined || this.#code() !== colon) return broken
      this.#step()
      const failure = this.#cutMember(name)
      if (failure !== undefined) return failure
      this.#skipSpace()
      if (this.#code() !== comma) return this.#end(brace.close)
      this.#step()
    }
  }

  #cutMember(name: string | null): SplitResult | undefined {
    const isList = name === this.#options.list
    if (isList && this.#code() === bracket.open) {
      const failure = this.#cutList()
      if (this.#options.skipsTextAfterList) this.#at = this.#endOfElement(brace.close)
      return failure
    }
    if (isList) this.#elements = undefined
    const from = this.#at
    this.#at = this.#endOfElement(brace.close)
    if (name !== null && this.#options.members.includes(name)) this.members.set(name, this.#text.slice(from, this.#at))
    return undefined
  }

  /**
   * Finds the elements of a list. Keeps one element more than the maximum, so that the caller
   * notices a list that is too long.
   */
  #cutList(): SplitResult | undefined {
    const elements: number[] = []
    this.#elements = elements
    this.#step()
    if (this.#code() === bracket.close) return this.#end(bracket.close)
    for (;;) {
      const from = this.#at
      this.#at = this.#endOfElement(bracket.close)
      if (elements.length <= 2 * this.#options.maxElements) elements.push(from, this.#at)
      if (this.#code() !== comma) return this.#end(bracket.close)
      this.#step()
    }
  }

  #end(closing: number): SplitResult | undefined {
    if (this.#code() !== closing) return broken
    this.#at += 1
    return undefined
  }

  /**
   * Reads a member name. Returns `undefined` if an escape sequence is invalid. Returns `null` if
   * the name was not requested: copies of all names would take much memory.
   */
  #name(): string | null | undefined {
    const from = this.#at
    const end = endOfString(this.#text, from)
    this.#at = end + 1
    this.#skipSpace()
    if (!this.#hasBackslash(from + 1, end)) return this.#wanted(from + 1, end)
    try {
      return JSON.parse(this.#text.slice(from, end + 1))
    } catch {
      return undefined
    }
  }

  #hasBackslash(from: number, to: number): boolean {
    for (let at = from; at < to; at += 1) if (this.#text.charCodeAt(at) === backslash) return true
    return false
  }

  #wanted(from: number, to: number): string | null {
    const length = to - from
    for (const name of this.#names) if (name.length === length && this.#text.startsWith(name, from)) return name
    return null
  }

  /**
   * Returns the position of the comma or closing bracket after the current element, or the end of
   * the text.
   */
  #endOfElement(closing: number): number {
    const text = this.#text
    let depth = 0
    let braces = 0
    let brackets = 0
    for (let at = this.#at; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      if (code === quote) at = endOfString(text, at)
      else if (code === brace.open || code === bracket.open) {
        this.#push(depth, code === brace.open ? brace.close : bracket.close)
        depth += 1
        if (code === brace.open) braces += 1
        else brackets += 1
      } else if (code === brace.close || code === bracket.close) {
        const openOfKind = code === brace.close ? braces : brackets
        // If the element has no open bracket of this kind, the bracket `closing` ends the list or
        // object around the element. The other closing bracket is then ignored.
        if (openOfKind === 0 && code === closing) return at
        for (let closed = 0; openOfKind > 0 && closed !== code; ) {
          depth -= 1
          closed = this.#open[depth] as number
          if (closed === brace.close) braces -= 1
          else brackets -= 1
        }
      } else if (code === comma && depth === 0) return at
    }
    return text.length
  }

  #push(depth: number, closing: number): void {
    if (depth === this.#open.length) {
      const larger = new Uint8Array(2 * depth)
      larger.set(this.#open)
      this.#open = larger
    }
    this.#open[depth] = closing
  }

  /** The character code at the current position, NaN at the end of the text. */
  #code(): number {
    return this.#text.charCodeAt(this.#at)
  }

  #step(): void {
    this.#at += 1
    this.#skipSpace()
  }

  #skipSpace(): void {
    while (isSpace(this.#code())) this.#at += 1
  }
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/** Returns the position of the quote that closes the string at `from`, or the end of the text. */
export function endOfString(text: string, from: number): number {
  const first = text.indexOf('"', from + 1)
  if (first === -1) return text.length
  if (text.charCodeAt(first - 1) !== backslash) return first
  // From here on, a loop reads each character: repeated `indexOf` calls are slow in a string with
  // many escaped quotes.
  for (let at = from + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === backslash) at += 1
  }
  return text.length
}
