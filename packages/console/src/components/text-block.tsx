/** Monospaced text in a frame that scrolls. */
export function TextBlock({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the frame scrolls, so the keyboard must reach it.
    <section class="text-block" aria-label={label} tabIndex={0}>
      <pre>{text}</pre>
    </section>
  )
}
