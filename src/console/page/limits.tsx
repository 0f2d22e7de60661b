import type { JSX } from 'preact';
import type { ConsoleState, GrantLine, LimitLine } from '../state/state.ts';
import { Section, Since } from './parts.tsx';

interface LimitsProps extends Pick<ConsoleState, 'limits' | 'grants'> {
  readonly now: number;
}

export function Limits({ limits, grants, now }: LimitsProps): JSX.Element {
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
      </div>
    </Section>
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
