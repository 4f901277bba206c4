/** Where the parts of a JSON text are. Whether a part is JSON is for a parser to say. */
export type CutOutcome =
  /** A list, or an object whose member of that name is one. */
  | {
      readonly kind: 'list'
      /** Of each element, from (inclusive) and to (exclusive), one after the other. */
      readonly elements: readonly number[]
      readonly members: Members
    }
  /** An object without the list. */
  | { readonly kind: 'object'; readonly members: Members }
  /** Neither a list nor an object, or nothing. */
  | { readonly kind: 'scalar' }
  /** What holds the parts together is broken: where the list or the object begins or ends cannot be determined. */
  | { readonly kind: 'broken' }
  | { readonly kind: 'too_many' }

/** The text of each member that was asked for, maybe with white space behind it; the last one of a name, as for a parser. */
export type Members = ReadonlyMap<string, string>

export interface CutOptions {
  /** The name of the member that is the list. A text that is a list itself needs none; undefined: no member is. */
  readonly list?: string
  /** Other members whose text is wanted. */
  readonly members: readonly string[]
  /** Elements at most. */
  readonly most: number
}

/**
 * Cuts a JSON text into the outermost members or elements without parsing any of them, so that one that is broken does not
 * cost the others, and nothing is parsed before its length is checked. A text that is JSON is always cut where a parser
 * would. In time and memory linear to the text, whatever it is.
 *
 * Brackets that do not match end the innermost pair that can end; an element whose own bracket is never closed reaches to the
 * end of the list.
 */
export function cutJson(text: string, options: CutOptions): CutOutcome {
  return new Cutter(text, options).cut()
}

/** The outermost members of these names, as far as they can be found: the text may be broken or cut off. */
export function membersIn(text: string, names: readonly string[]): Members {
  const cutter = new Cutter(text, { members: names, most: 0 })
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
  readonly #options: CutOptions
  #elements: number[] | undefined
  #at = 0
  /** The brackets that are open within an element, as what will close them. */
  #open = new Uint8Array(64)

  readonly #names: readonly string[]

  constructor(text: string, options: CutOptions) {
    this.#text = text
    this.#options = options
    this.#names = options.list === undefined ? options.members : [...options.members, options.list]
  }

  cut(): CutOutcome {
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
    return elements.length > 2 * this.#options.most ? { kind: 'too_many' } : { kind: 'list', elements, members }
  }

  /** From its opening brace to behind its closing one. Of members of one name the last counts, as for a parser. */
  #cutObject(): CutOutcome | undefined {
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

  #cutMember(name: string | null): CutOutcome | undefined {
    const isList = name === this.#options.list
    if (isList && this.#code() === bracket.open) return this.#cutList()
    if (isList) this.#elements = undefined
    const from = this.#at
    this.#at = this.#endOfElement(brace.close)
    if (name !== null && this.#options.members.includes(name)) this.members.set(name, this.#text.slice(from, this.#at))
    return undefined
  }

  /** From its opening bracket to behind its closing one. One element more than `most` is kept, which shows that there are too many. */
  #cutList(): CutOutcome | undefined {
    const elements: number[] = []
    this.#elements = elements
    this.#step()
    if (this.#code() === bracket.close) return this.#end(bracket.close)
    for (;;) {
      const from = this.#at
      this.#at = this.#endOfElement(bracket.close)
      if (elements.length <= 2 * this.#options.most) elements.push(from, this.#at)
      if (this.#code() !== comma) return this.#end(bracket.close)
      this.#step()
    }
  }

  #end(closing: number): CutOutcome | undefined {
    if (this.#code() !== closing) return broken
    this.#at += 1
    return undefined
  }

  /**
   * The name at the position, which is left behind it; undefined when it is none. Null: it is not among the requested names. That name is not
   * copied: a body may have hundreds of thousands.
   */
  #name(): string | null | undefined {
    const from = this.#at
    const end = this.#endOfString(from)
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

  /** The position of the comma or the closing bracket that ends the element which begins here; the text's end when none does. */
  #endOfElement(closing: number): number {
    const text = this.#text
    let depth = 0
    let braces = 0
    let brackets = 0
    for (let at = this.#at; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      if (code === quote) at = this.#endOfString(at)
      else if (code === brace.open || code === bracket.open) {
        this.#push(depth, code === brace.open ? brace.close : bracket.close)
        depth += 1
        if (code === brace.open) braces += 1
        else brackets += 1
      } else if (code === brace.close || code === bracket.close) {
        const partners = code === brace.close ? braces : brackets
        // Without a partner in the element it ends the list, or is a stray one.
        if (partners === 0 && code === closing) return at
        for (let closed = 0; partners > 0 && closed !== code; ) {
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

  /**
   * The position of the quote that ends the string which begins at `from`; the text's end when none does. A quote behind an
   * even number of backslashes is not escaped; each backslash is counted for one quote only.
   */
  #endOfString(from: number): number {
    const text = this.#text
    for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
      let first = at
      while (first > from + 1 && text.charCodeAt(first - 1) === backslash) first -= 1
      if ((at - first) % 2 === 0) return at
    }
    return text.length
  }

  /** NaN behind the end. */
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
