import type { JSX } from 'preact';
import { rolloutNeedsAttention } from '../../state/attention.ts';
import { machineAddress } from '../../state/pages/address.ts';
import { batchSteps } from '../../state/pages/batches.ts';
import type { ConsoleState, RolloutCard } from '../../state/state.ts';
import { absenceText, type UnreadPart, unreadOf } from '../../state/unread.ts';
import { Ago, Badge, countText, Empty, Only, Page, Since, Unblock } from '../parts/parts.tsx';

interface RolloutsProps extends Pick<ConsoleState, 'rollouts'> {
  readonly now: number;
  /** The only cluster whose rollouts are shown. Undefined: all are. */
  readonly only: string | undefined;
  readonly unread: readonly UnreadPart[];
}

/** Those that need a person first, completed ones last. */
const ORDER: readonly string[] = ['NeedsPerson', 'Failed', 'Running', 'Completed'];

export function RolloutsPage({ rollouts, now, only, unread }: RolloutsProps): JSX.Element {
  const shown = sortRollouts(rollouts).filter(([, { cluster }]) => only === undefined || cluster === only);
  return (
    <Page id="rollouts" title="Rollouts">
      <Only page="rollouts" cluster={only} />
      {shown.length === 0 && (
        <Empty text={absenceText('No rollouts', unreadOf(unread, only))} command="kubenode rollout list" />
      )}
      <div class="rows">
        {shown.map(([key, card]) => (
          <Rollout key={key} card={card} now={now} />
        ))}
      </div>
    </Page>
  );
}

function sortRollouts(rollouts: ConsoleState['rollouts']): readonly [string, RolloutCard][] {
  return Object.entries(rollouts).toSorted(
    ([a, one], [b, other]) =>
      Number(rolloutNeedsAttention(other)) - Number(rolloutNeedsAttention(one)) ||
      ORDER.indexOf(one.state) - ORDER.indexOf(other.state) ||
      (a < b ? -1 : 1),
  );
}

export function Rollout({ card, now }: { readonly card: RolloutCard; readonly now: number }): JSX.Element {
  const { cluster, set, phase, state, because, changes, selected, updated, failed, closed } = card;
  const progress = `${updated} of ${selected} machines updated${failed > 0 ? `, ${failed} failed` : ''}`;
  return (
    <article class="card rollout" aria-label={`Rollout ${set} in ${cluster}`}>
      <div class="title">
        <h3>
          {set} <span class="soft">in {cluster}</span>
        </h3>
        <Badge state={state} /> <span>{phase}</span> <Since since={card.since} now={now} />
      </div>
      {state !== 'Completed' && changes.length > 0 && <p>{changes.join(', ')}</p>}
      <Steps card={card} />
      <progress max={Math.max(selected, 1)} value={updated} aria-label={progress} />
      <div class="facts">
        <p>{progress}</p>
        <BatchText card={card} />
      </div>
      <InWork card={card} />
      <p>{because}</p>
      <Unblock text={card.unblock} />
      {closed !== undefined && <p class="soft">Closed {closed}</p>}
      <Revisions card={card} now={now} />
    </article>
  );
}

const STEP_SIGNS = { done: '✓', current: '●', next: '○' } as const;

/** The text of the batch is below it: a screen reader needs only that. */
function Steps({ card }: { readonly card: RolloutCard }): JSX.Element | null {
  const steps = batchSteps(card);
  if (steps.length === 0) return null;
  return (
    <ol class="stepper" aria-hidden="true">
      {steps.map(({ number, state }) => (
        <li key={number} class={state}>
          <span>{STEP_SIGNS[state]}</span> batch {countText(number)}
        </li>
      ))}
    </ol>
  );
}

function BatchText({ card: { batch, state } }: { readonly card: RolloutCard }): JSX.Element | null {
  if (!batch || state === 'Completed') return null;
  const { place, size, updated, failed, soakUntil } = batch;
  return (
    <p>
      Batch {place}: {updated} of {size} updated{failed > 0 && `, ${failed} failed`}
      {soakUntil !== undefined && (
        <>
          {' '}
          — soaks until <time dateTime={soakUntil}>{soakUntil}</time>
        </>
      )}
    </p>
  );
}

function Revisions({ card, now }: { readonly card: RolloutCard; readonly now: number }): JSX.Element | null {
  const { revisions = [] } = card;
  if (revisions.length === 0) return null;
  return (
    <details>
      <summary>Revisions</summary>
      <ul class="plain">
        {revisions.map(({ components, result, ended, revision }) => (
          <li key={`${revision} ${ended}`}>
            {components} <Badge state={result} /> {ended !== undefined && <Ago at={ended} now={now} />}{' '}
            <code class="soft">{revision}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}

function InWork({ card: { cluster, inWork } }: { readonly card: RolloutCard }): JSX.Element | null {
  if (inWork.length === 0) return null;
  return (
    <ul class="plain" aria-label="Machines in work">
      {inWork.map(({ machine, state, because }) => (
        <li key={machine}>
          <a href={machineAddress(`${cluster}/${machine}`)}>{machine}</a>: {state}{' '}
          <span class="soft">{because}</span>
        </li>
      ))}
    </ul>
  );
}
