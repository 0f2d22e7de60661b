/** Incidents above every page, in the words of the Defender and of sync: a stop from the hub, an open breaker, a kill switch, sync that is dead. */
import type { JSX } from 'preact';
import type { FleetStopView } from '../../../views/fleet/policy-view.ts';
import { incidentLines } from '../../state/attention.ts';
import type { ConsoleState } from '../../state/state.ts';
import { Section, Since } from '../parts/parts.tsx';

interface BannersProps extends Pick<ConsoleState, 'fleetPolicies' | 'notes'> {
  readonly now: number;
}

export function Banners({ fleetPolicies, notes, now }: BannersProps): JSX.Element {
  return (
    <>
      <FleetStops fleetPolicies={fleetPolicies} now={now} />
      <Incidents notes={notes} />
    </>
  );
}

function Incidents({ notes }: Pick<ConsoleState, 'notes'>): JSX.Element | null {
  const incidents = incidentLines(notes);
  if (incidents.length === 0) return null;
  return (
    <Section id="incidents" title="Incidents">
      <ul class="plain">
        {incidents.map(({ text }) => (
          <li key={text} class="banner">
            <span class="badge bad">! needs a person</span> {text}
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** A banner for each stop from the hub. Without any, it is not there. */
function FleetStops({ fleetPolicies, now }: Omit<BannersProps, 'notes'>): JSX.Element | null {
  const stopping = Object.values(fleetPolicies).flatMap(({ name, stop }) => (stop ? [{ name, stop }] : []));
  if (stopping.length === 0) return null;
  return (
    <Section id="stops" title="Stopped">
      {stopping.map(({ name, stop }) => (
        <article key={name} class="banner" aria-label={`Stop by FleetPolicy ${name}`}>
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
