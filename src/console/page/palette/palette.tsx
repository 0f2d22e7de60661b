/** The search over everything: typing narrows the list, arrow keys choose, Enter opens, Escape closes. */
import type { JSX, TargetedKeyboardEvent } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type SearchEntry, searchEntries, searchFleet } from '../../state/pages/search.ts';
import type { Shown } from '../../state/shown.ts';
import { absenceText, unreadParts } from '../../state/unread.ts';

interface PaletteProps {
  readonly shown: Shown;
  readonly close: () => void;
}

/** As many as fit on the screen without scrolling. */
const MAX_FOUND = 12;

export function Palette({ shown, close }: PaletteProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [chosen, choose] = useState(0);
  // Of the moment when it opens: a list that changes under the hand of a person opens the wrong thing.
  const entries = useMemo(() => searchEntries(shown.state, shown.groups), []); // oxlint-disable-line react-hooks/exhaustive-deps -- as above
  const found = useMemo(() => searchFleet(entries, text, MAX_FOUND), [entries, text]);
  useLayoutEffect(() => dialog.current?.showModal(), []);

  return (
    <dialog ref={dialog} class="palette" aria-label="Search" onClose={close} onClick={closeOutside}>
      <input
        type="text"
        role="combobox"
        aria-label="Search machines, clusters, sets, rules and commits"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={found.length > 0 ? `found-${chosen}` : undefined}
        placeholder="Machine, cluster, set, rule or commit"
        autocomplete="off"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          choose(0);
        }}
        onKeyDown={moveChoice}
      />
      <ul id="found" role="listbox" aria-label="Found">
        {found.map((entry, index) => (
          <Found
            key={`${entry.kind} ${entry.address} ${entry.title}`}
            {...{ entry, index }}
            isChosen={index === chosen}
            open={open}
          />
        ))}
      </ul>
      {found.length === 0 && <p class="soft">{absenceText('Nothing is found', unreadParts(shown.state))}</p>}
    </dialog>
  );

  function moveChoice(event: TargetedKeyboardEvent<HTMLInputElement>): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const entry = found[chosen];
    if (step !== undefined) choose(Math.min(found.length - 1, Math.max(0, chosen + step)));
    else if (event.key === 'Enter' && entry) open(entry);
    else return;
    event.preventDefault();
  }

  function open({ address }: SearchEntry): void {
    dialog.current?.close();
    location.hash = address;
  }

  /** The dialog itself is clicked only beside its content. */
  function closeOutside({ target }: MouseEvent): void {
    if (target === dialog.current) dialog.current?.close();
  }
}

interface FoundProps {
  readonly entry: SearchEntry;
  readonly index: number;
  readonly isChosen: boolean;
  readonly open: (entry: SearchEntry) => void;
}

function Found({ entry, index, isChosen, open }: FoundProps): JSX.Element {
  const { kind, title, hint } = entry;
  return (
    <li id={`found-${index}`} role="option" aria-selected={isChosen} onClick={() => open(entry)}>
      <span class="soft kind">{kind}</span> <strong>{title}</strong> <span class="soft">{hint}</span>
    </li>
  );
}
