/** The button that asks again, and why the last request has no answer. */
import type { JSX } from 'preact';
import type { OnDemand } from './on-demand.ts';

type AskProps = Pick<OnDemand<unknown>, 'isReading' | 'readAgain'>;

export function AskAgain({ isReading, readAgain }: AskProps): JSX.Element {
  return (
    <button type="button" class="quiet-button" onClick={readAgain} disabled={isReading}>
      {isReading ? 'Reading …' : 'Ask again'}
    </button>
  );
}

export function Failed({ failure }: { readonly failure: string }): JSX.Element {
  return <p class="badge attention">! no new answer: {failure}</p>;
}
