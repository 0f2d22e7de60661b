import type { JSX } from 'preact';
import type { FleetStopView } from '../../views/fleet/policy-view.ts';
import type { ConsoleState } from '../state/state.ts';
import { Badge, Section, Since } from './parts.tsx';

interface FleetStopsProps extends Pick<ConsoleState, 'fleetPolicies'> {
  readonly now: number;
}

/** A banner for each stop from the hub. Without any, it is not there. */
export function FleetStops({ fleetPolicies, now }: FleetStopsProps): JSX.Element | null {
  const stopping = Object.values(fleetPolicies).flatMap(({ name, stop }) => (stop ? [{ name, stop }] : []));
  if (stopping.length === 0) return null;
  return (
    <Section id="stops" title="Stopped">
      {stopping.map(({ name, stop }) => (
        <article key={name} class="card stop" aria-label={`Stop by FleetPolicy ${name}`}>
          <p class="title">
            <span class="badge bad">■ {stopText(stop)}</span> <Since since={stop.since} now={now} />
          </p>
          <p>
            <strong>{stop.reason}</strong> <span class="soft">by {stop.by}</span>
          </p>
          <p>{stop.progress}</p>
          {stop.holdsPromotion && <p>No commit begins in any cluster meanwhile, not even a revert.</p>}
          {stop.until !== undefined && <p>It ends at {stop.until}.</p>}
          <p class="unblock">
            To resume: <code>{stop.resume}</code>
          </p>
        </article>
      ))}
    </Section>
  );
}

const STOPPED: Readonly<Record<string, string>> = {
  All: 'Repairs, rollouts and every other disruptive act',
  Remedy: 'Repairs',
  Rollout: 'Rollouts',
};

function stopText({ isForAll, scope }: FleetStopView): string {
  const where = isForAll ? 'all clusters' : 'the clusters that the policy selects';
  return `${STOPPED[scope] ?? scope} are stopped in ${where}`;
}

export function Notes({ notes }: Pick<ConsoleState, 'notes'>): JSX.Element | null {
  const all = Object.values(notes).toSorted((a, b) => Number(b.bad) - Number(a.bad));
  if (all.length === 0) return null;
  return (
    <Section id="notes" title="To know">
      <ul>
        {all.map(({ text, bad }) => (
          <li key={text}>
            {bad && <span class="badge bad">! needs a person</span>} {text}
          </li>
        ))}
      </ul>
    </Section>
  );
}

interface PipelinesProps extends Pick<ConsoleState, 'pipelines'> {
  readonly now: number;
}

export function Pipelines({ pipelines, now }: PipelinesProps): JSX.Element | null {
  const all = Object.values(pipelines);
  if (all.length === 0) return null;
  return (
    <Section id="pipelines" title="Pipelines">
      <ul>
        {all.map(({ name, phase, commit, verdict, because, since }) => (
          <li key={name}>
            <strong>{name}</strong> <Badge state={phase} /> <code>{commit}</code> {verdict}{' '}
            <Since since={since} now={now} /> {because}
          </li>
        ))}
      </ul>
    </Section>
  );
}
