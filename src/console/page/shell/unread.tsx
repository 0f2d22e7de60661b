/** The line above every page that names what is not read, and the mark at numbers that do not contain it. */
import type { JSX } from 'preact';
import { type UnreadPart, unreadPartsText } from '../../state/unread.ts';

interface UnreadProps {
  readonly unread: readonly UnreadPart[];
}

export function NotRead({ unread }: UnreadProps): JSX.Element | null {
  if (unread.length === 0) return null;
  return (
    <p id="not-read" class="not-read">
      <span class="badge bad">! not read</span> {unreadPartsText(unread)}. What is shown of this is the last
      state that was read, and the numbers may be wrong.
    </p>
  );
}

/** The same for a screen reader in words. */
export function UnreadMark({ unread }: UnreadProps): JSX.Element | null {
  if (unread.length === 0) return null;
  const title = `Not read: ${unreadPartsText(unread)}`;
  return (
    <small class="bad" title={title}>
      <span aria-hidden="true">?</span>
      <span class="hidden"> not all is read</span>
    </small>
  );
}
