/** A command with a button that copies it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

export function Command({ text }: { readonly text: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => void copyText(text).then(setCopied);
  return (
    <p class="command">
      <code>{text}</code>{' '}
      <button type="button" class="quiet-button" aria-label={`Copy: ${text}`} onClick={copy}>
        {isCopied ? '✓ copied' : 'Copy'}
      </button>
    </p>
  );
}

/** Resolves to false if the browser does not permit it, as under an address without TLS. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
