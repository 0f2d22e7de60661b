/** Renders the pages around the sign-in. They need no script, and load nothing but their style. Pure. */

/** Which ways to sign in a page offers. */
export interface SignInWays {
  readonly token: boolean;
  /** The name of the issuer, for the link. Undefined: none. */
  readonly issuer?: string | undefined;
}

export interface SignInPage {
  readonly ways: SignInWays;
  /** The value that only a page of the console knows. */
  readonly formId: string;
  /** Why the person is asked again. */
  readonly message?: string | undefined;
}

export const STYLE_PATH = '/login.css';
/** The paths of the sign-in at an issuer, which leads back to the second. */
export const OIDC_START = '/login/oidc';
export const OIDC_CALLBACK = '/login/oidc/callback';
export const LOGIN_STYLE = `:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 0; display: grid; min-height: 100vh; place-items: center; background: Canvas; color: CanvasText; }
main { width: min(28rem, calc(100vw - 2rem)); }
h1 { font-size: 20px; margin: 0 0 1rem; }
label { display: block; font-weight: 600; margin-bottom: 0.25rem; }
textarea { width: 100%; box-sizing: border-box; font: 13px/1.4 ui-monospace, monospace; }
button, a.button { display: inline-block; margin-top: 0.75rem; padding: 0.5rem 1rem; font: inherit; border: 1px solid; border-radius: 6px;
  background: ButtonFace; color: ButtonText; text-decoration: none; cursor: pointer; }
[role='alert'] { padding: 0.5rem 0.75rem; border-left: 4px solid #b3261e; }
code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere; }
`;

export function signInPage({ ways, formId, message }: SignInPage): string {
  const issuer =
    ways.issuer === undefined
      ? ''
      : `<p><a class="button" href="${OIDC_START}">Sign in with ${escapeHtml(ways.issuer)}</a></p>`;
  return page(
    'Sign in',
    `${message === undefined ? '' : `<p role="alert">${escapeHtml(message)}</p>`}${issuer}${ways.token ? tokenForm(formId) : ''}`,
  );
}

function tokenForm(formId: string): string {
  return `<form method="post" action="/login" autocomplete="off">
<input type="hidden" name="form" value="${escapeHtml(formId)}">
<label for="token">Your token for the API server</label>
<textarea id="token" name="token" rows="5" required spellcheck="false" autocapitalize="off" aria-describedby="hint"></textarea>
<p id="hint">The console reads the cluster with this token, and shows what you may read. It keeps the token in memory until you sign out. For a ServiceAccount: <code>kubectl create token NAME</code></p>
<button type="submit">Sign in</button>
</form>`;
}

/**
 * A page that loads the console again. A browser sends a cookie with SameSite=Strict only when the console itself led to the page, which an
 * issuer or a link in a chat does not.
 */
export function continuePage(): string {
  return page(
    'Signing in',
    '<p><a class="button" href="/">Continue to the console</a></p>',
    '<meta http-equiv="refresh" content="0; url=/">',
  );
}

function page(title: string, body: string, head = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – kubenode</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${STYLE_PATH}">
${head}</head>
<body>
<main>
<h1>kubenode</h1>
${body}
</main>
</body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
