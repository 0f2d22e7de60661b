import type { JSX } from 'preact';
import type { ConsoleState, FleetPolicyCard, GrantLine, LimitLine } from '../state/state.ts';
import { Badge, Section, Since } from './parts.tsx';

interface LimitsProps extends Pick<ConsoleState, 'limits' | 'grants' | 'fleetPolicies'> {
  readonly now: number;
}

export function Limits({ limits, grants, fleetPolicies, now }: LimitsProps): JSX.Element {
  const lines = Object.entries(limits).toSorted(([, a], [, b]) => fullness(b) - fullness(a));
  const held = Object.entries(grants);
  return (
    <Section id="limits" title="Grants and limits">
      <div class="cards">
        <div class="card">
          <h3>Grants</h3>
          {held.length === 0 && <p>No grants: nothing is being disturbed.</p>}
          <ul>
            {held.map(([key, grant]) => (
              <Grant key={key} grant={grant} now={now} />
            ))}
          </ul>
        </div>
        <div class="card">
          <h3>Limits</h3>
          {lines.length === 0 && <p>No limit is in use.</p>}
          {lines.map(([key, line]) => (
            <Limit key={key} line={line} />
          ))}
        </div>
        {Object.entries(fleetPolicies)
          .filter(([, policy]) => !isOnlyStop(policy))
          .map(([key, policy]) => (
            <FleetPolicy key={key} policy={policy} now={now} />
          ))}
      </div>
    </Section>
  );
}

/** The banner at the top shows all of such a policy. */
function isOnlyStop({ stop, limits, held }: FleetPolicyCard): boolean {
  return stop !== undefined && limits.length + held.length === 0;
}

interface FleetPolicyProps {
  readonly policy: FleetPolicyCard;
  readonly now: number;
}

function FleetPolicy({ policy, now }: FleetPolicyProps): JSX.Element {
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

function Grant({ grant, now }: { readonly grant: GrantLine; readonly now: number }): JSX.Element {
  const { cluster, machine, action, state, holder, since } = grant;
  return (
    <li>
      {cluster}/{machine}: {action}, {state} to {holder} <Since since={since} now={now} />
    </li>
  );
}

function Limit({ line }: { readonly line: LimitLine }): JSX.Element {
  const { cluster, policy, rule, counts, used, limit } = line;
  const text = `${cluster}, ${policy}: ${rule} ${counts}: ${used} of ${limit}${used >= limit ? ', full' : ''}`;
  return (
    <p>
      {text}
      <meter min={0} max={Math.max(limit, 1)} value={used} aria-label={text} />
    </p>
  );
}

function fullness({ used, limit }: LimitLine): number {
  return limit > 0 ? used / limit : 1;
}
