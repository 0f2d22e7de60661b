/** The grants and the limits: a bar a limit, who holds a grant, and what opened a breaker. */
import type { JSX } from 'preact';
import { machineAddress } from '../../state/pages/address.ts';
import type { ConsoleState, FleetPolicyCard, GrantLine, LimitLine } from '../../state/state.ts';
import { absenceText, type UnreadPart } from '../../state/unread.ts';
import { Page, Since } from '../parts/parts.tsx';
import { FleetPolicy } from './fleet-policy.tsx';

interface LimitsProps extends Pick<ConsoleState, 'limits' | 'grants' | 'fleetPolicies'> {
  readonly now: number;
  readonly unread: readonly UnreadPart[];
}

export function LimitsPage({ limits, grants, fleetPolicies, now, unread }: LimitsProps): JSX.Element {
  const lines = Object.entries(limits).toSorted(([, a], [, b]) => fullness(b) - fullness(a));
  const held = Object.entries(grants);
  return (
    <Page id="limits" title="Grants and limits">
      <div class="cards">
        <div class="card">
          <h3>Limits</h3>
          {lines.length === 0 && <p>{absenceText('No limit is in use', unread)}</p>}
          {lines.map(([key, line]) => (
            <Limit key={key} line={line} />
          ))}
        </div>
        <div class="card">
          <h3>Grants</h3>
          {held.length === 0 && <p>{noGrantsText(unread)}</p>}
          <ul class="plain">
            {held.map(([key, grant]) => (
              <Grant key={key} grant={grant} now={now} />
            ))}
          </ul>
        </div>
        {Object.entries(fleetPolicies)
          .filter(([, policy]) => !isOnlyStop(policy))
          .map(([key, policy]) => (
            <FleetPolicy key={key} policy={policy} now={now} />
          ))}
      </div>
    </Page>
  );
}

/** States that nothing is disturbed only while every cluster is read: another one may hold grants. */
function noGrantsText(unread: readonly UnreadPart[]): string {
  return absenceText(unread.length === 0 ? 'No grants: nothing is being disturbed' : 'No grants', unread);
}

/** The banner at the top shows all of such a policy. */
function isOnlyStop({ stop, limits, held }: FleetPolicyCard): boolean {
  return stop !== undefined && limits.length + held.length === 0;
}

function Grant({ grant, now }: { readonly grant: GrantLine; readonly now: number }): JSX.Element {
  const { cluster, machine, action, state, holder, since } = grant;
  const key = `${cluster}/${machine}`;
  return (
    <li>
      <a href={machineAddress(key)}>{key}</a>: {action}, {state} to {holder} <Since since={since} now={now} />
    </li>
  );
}

function Limit({ line }: { readonly line: LimitLine }): JSX.Element {
  const { cluster, policy, rule, counts, used, limit } = line;
  const text = `${cluster}, ${policy}: ${rule} ${counts}: ${used} of ${limit}${used >= limit ? ', full' : ''}`;
  return (
    <p>
      {text}
      <meter
        class={used >= limit ? 'full' : ''}
        min={0}
        max={Math.max(limit, 1)}
        value={used}
        aria-label={text}
      />
    </p>
  );
}

function fullness({ used, limit }: LimitLine): number {
  return limit > 0 ? used / limit : 1;
}
