import { Dialog } from '../../components/dialog.tsx'
import { SignInFields, type SignInProps } from './sign-in-fields.tsx'

/** Covers the page until the user signs in again. Escape does not close the dialog. */
export function SignInDialog(props: SignInProps) {
  return (
    <Dialog title="Your session has ended" onClose={() => undefined} isOpaque>
      <div class="dialog-text">
        <p>
          Sign in again to continue on this page. If you use a key with the same name as before, the page keeps your
          input.
        </p>
        <SignInFields {...props} />
      </div>
    </Dialog>
  )
}
