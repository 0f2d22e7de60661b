/** Shows who is signed in, with a button that signs out. A console without a login shows neither. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

interface ShownSession {
  /** Undefined: the console has no login. */
  readonly user?: string;
}

/** While the stream is away, a session may end: its state is asked again and again. */
const ASK_MS = 5000;

export function SignedIn({ isConnected }: { readonly isConnected: boolean }): JSX.Element | null {
  const [user, setUser] = useState<string>();
  useEffect(() => {
    const ask = (): void => void readSession().then((session) => session && setUser(session.user));
    ask();
    if (isConnected || user === undefined) return undefined;
    const timer = setInterval(ask, ASK_MS);
    return () => clearInterval(timer);
  }, [isConnected, user]);
  if (user === undefined) return null;
  return (
    <span class="soft">
      {user} <button onClick={() => void signOut()}>Sign out</button>
    </span>
  );
}

/** Opens the sign-in page when there is no session. Returns undefined when the server does not answer. */
async function readSession(): Promise<ShownSession | undefined> {
  try {
    const response = await fetch('/session');
    if (response.status === 401) location.assign('/login');
    return response.ok ? ((await response.json()) as ShownSession) : undefined;
  } catch {
    return undefined;
  }
}

async function signOut(): Promise<void> {
  // Without a connection the session stays: the person stays on the page.
  await fetch('/logout', { method: 'POST' }).then(
    () => location.assign('/login'),
    () => undefined,
  );
}
