import { SignInFields, type SignInProps } from './sign-in-fields.tsx'

/** The page for users who are not signed in. */
export function SignInPage(props: SignInProps) {
  return (
    <main class="sign-in">
      <div class="panel">
        <h1>Sign in to Hookline</h1>
        <SignInFields {...props} />
      </div>
    </main>
  )
}
