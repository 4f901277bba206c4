/** A dash in place of a value that the operator service did not send. */
export function Absent() {
  return (
    <span class="muted">
      <span aria-hidden="true">–</span>
      <span class="visually-hidden">none</span>
    </span>
  )
}
