/** A choice of a switch: an address of the same page. */
import type { JSX } from 'preact';

interface ChoiceProps {
  readonly text: string;
  readonly isChosen: boolean;
  readonly address: string;
}

export function Choice({ text, isChosen, address }: ChoiceProps): JSX.Element {
  return (
    <li>
      <a href={address} aria-current={isChosen ? 'true' : undefined}>
        {text}
      </a>
    </li>
  );
}
