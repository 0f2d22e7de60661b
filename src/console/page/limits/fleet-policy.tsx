/** A limit over clusters: a bar of its use, which clusters wait, what is held and what is not reached. */
import type { JSX } from 'preact';
import type { FleetPolicyCard } from '../../state/state.ts';
import { Badge, Since } from '../parts/parts.tsx';

interface FleetPolicyProps {
  readonly policy: FleetPolicyCard;
  readonly now: number;
}

export function FleetPolicy({ policy, now }: FleetPolicyProps): JSX.Element {
  const { name, phase, because, clusters, limits, stop, stale } = policy;
  return (
    <article class="card" aria-label={`Limits over clusters: ${name}`}>
      <div class="title">
        <h3>
          {name} <span class="soft">over clusters</span>
        </h3>
        <Badge state={phase} />
        <span class="soft">
          {clusters.current} of {clusters.total} clusters keep to it
        </span>
      </div>
      {stale !== undefined && (
        <p>
          <span class="badge bad">! last report</span> {stale}
        </p>
      )}
      {because !== '' && !stop && <p>{because}</p>}
      {limits.map((limit) => (
        <FleetLimit key={limit.id} limit={limit} />
      ))}
      <Held policy={policy} now={now} />
      <Waiting policy={policy} now={now} />
      <NotServed policy={policy} now={now} />
    </article>
  );
}

/** The width of the bar, in its own units. */
const BAR = 100;

/** A bar of what is used of what is handed out, of the maximum. */
function FleetLimit({ limit }: { readonly limit: FleetPolicyCard['limits'][number] }): JSX.Element {
  const { id, counts, max, use } = limit;
  const { used = 0, handedOut = 0 } = use ?? {};
  const full = handedOut >= max ? ', all handed out' : '';
  const amounts = use ? `${used} used, ${handedOut} handed out` : 'use not reported yet';
  const text = `${id}: ${counts}: ${amounts}, at most ${max}${full}`;
  const widthOf = (count: number): number => (BAR * count) / Math.max(max, handedOut, used, 1);
  return (
    <>
      <p>{text}</p>
      {use && (
        <svg class="shares" viewBox={`0 0 ${BAR} 8`} preserveAspectRatio="none" role="img" aria-label={text}>
          <rect class="handed-out" width={widthOf(handedOut)} height="8" />
          <rect class="used" width={widthOf(used)} height="8" />
        </svg>
      )}
    </>
  );
}

function Held({ policy: { held }, now }: FleetPolicyProps): JSX.Element | null {
  if (held.length === 0) return null;
  return (
    <>
      <h4>Held in all clusters</h4>
      <ul>
        {held.map(({ cause, since, until, because }) => (
          <li key={cause}>
            <strong>{cause}</strong> <Since since={since} now={now} />, until {until}: {because}
          </li>
        ))}
      </ul>
    </>
  );
}

function Waiting({ policy: { waiting }, now }: FleetPolicyProps): JSX.Element | null {
  if (waiting.length === 0) return null;
  return (
    <>
      <h4>Waiting for a share</h4>
      <ul>
        {waiting.map(({ cluster, limit, since, because }) => (
          <li key={`${cluster} ${limit}`}>
            <strong>{cluster}</strong> for {limit} <Since since={since} now={now} />: {because}
          </li>
        ))}
      </ul>
    </>
  );
}

function NotServed({ policy: { notServed }, now }: FleetPolicyProps): JSX.Element | null {
  if (notServed.length === 0) return null;
  return (
    <>
      <h4>Not reached</h4>
      <ul>
        {notServed.map(({ cluster, since, because }) => (
          <li key={cluster}>
            <strong>{cluster}</strong> <Since since={since} now={now} />: {because}
          </li>
        ))}
      </ul>
    </>
  );
}
