import type { JSX } from 'preact';
import { rolloutNeedsAttention } from '../state/attention.ts';
import type { ConsoleState, RolloutCard } from '../state/state.ts';
import { Badge, Section, Since, Unblock } from './parts.tsx';

interface RolloutsProps extends Pick<ConsoleState, 'rollouts'> {
  readonly now: number;
}

/** Those that need a person first, completed ones last. */
const ORDER: readonly string[] = ['NeedsPerson', 'Failed', 'Running', 'Completed'];

export function Rollouts({ rollouts, now }: RolloutsProps): JSX.Element {
  const others = sortRollouts(rollouts).filter(([, card]) => !rolloutNeedsAttention(card));
  const none = Object.keys(rollouts).length === 0 ? 'No rollouts.' : 'No others: see Needs attention.';
  return (
    <Section id="rollouts" title="Rollouts">
      {others.length === 0 && <p>{none}</p>}
      <div class="cards">
        {others.map(([key, card]) => (
          <Rollout key={key} card={card} now={now} />
        ))}
      </div>
    </Section>
  );
}

export function sortRollouts(rollouts: ConsoleState['rollouts']): readonly [string, RolloutCard][] {
  return Object.entries(rollouts).toSorted(
    ([a, one], [b, other]) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state) || (a < b ? -1 : 1),
  );
}

export function Rollout({ card, now }: { readonly card: RolloutCard; readonly now: number }): JSX.Element {
  const { cluster, set, phase, state, because, changes, selected, updated, failed, closed } = card;
  const progress = `${updated} of ${selected} machines updated${failed > 0 ? `, ${failed} failed` : ''}`;
  return (
    <article class="card" aria-label={`Rollout ${set} in ${cluster}`}>
      <div class="title">
        <h3>
          {set} <span class="soft">in {cluster}</span>
        </h3>
        <Badge state={state} /> <span>{phase}</span> <Since since={card.since} now={now} />
      </div>
      {state !== 'Completed' && changes.map((text) => <p key={text}>{text}</p>)}
      <progress max={Math.max(selected, 1)} value={updated} aria-label={progress} />
      <p>{progress}</p>
      <Batch card={card} />
      <p>{because}</p>
      <Unblock text={card.unblock} />
      {closed !== undefined && <p class="soft">Closed {closed}</p>}
    </article>
  );
}

function Batch({ card: { batch, state, inWork } }: { readonly card: RolloutCard }): JSX.Element | null {
  if (!batch || state === 'Completed') return null;
  const { place, size, updated, failed, soakUntil } = batch;
  return (
    <>
      <p>
        Batch {place}: {updated} of {size} updated{failed > 0 && `, ${failed} failed`}
        {soakUntil !== undefined && (
          <>
            {' '}
            — soaks until <time dateTime={soakUntil}>{soakUntil}</time>
          </>
        )}
      </p>
      <ul>
        {inWork.map(({ machine, state: step, because }) => (
          <li key={machine}>
            {machine}: {step} {because}
          </li>
        ))}
      </ul>
    </>
  );
}
