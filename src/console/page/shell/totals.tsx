/** The four numbers: how many machines are Ready, change and are repaired, and what waits for a person. */
import type { JSX } from 'preact';
import type { FleetGroups } from '../../state/fleet.ts';
import { pageAddress } from '../../state/pages/address.ts';
import { fleetTotals } from '../../state/pages/totals.ts';
import type { ConsoleState } from '../../state/state.ts';
import type { UnreadPart } from '../../state/unread.ts';
import { countText } from '../parts/parts.tsx';
import { UnreadMark } from './unread.tsx';

interface TotalsProps extends Pick<ConsoleState, 'repairs'> {
  readonly groups: FleetGroups;
  readonly waits: number;
  readonly unread: readonly UnreadPart[];
}

export function Totals({ groups, repairs, waits, unread }: TotalsProps): JSX.Element {
  const totals = fleetTotals(groups, repairs);
  return (
    <ul class="totals" aria-label="The fleet in numbers">
      <Total
        title="Ready"
        address={pageAddress('fleet')}
        count={totals.ready}
        of={totals.total}
        unread={unread}
      />
      <Total
        title="Changing"
        address={pageAddress('fleet', { show: 'changing' })}
        count={totals.changing}
        tone="busy"
        unread={unread}
      />
      <Total
        title="Repairs"
        address={pageAddress('repairs')}
        count={totals.repairs}
        tone="busy"
        unread={unread}
      />
      <li>
        <a class="total" href="#attention" onClick={focusAttention}>
          <span>Waits for you</span>{' '}
          <strong class={waits > 0 ? 'tone bad' : ''}>
            {countText(waits)}
            <UnreadMark unread={unread} />
          </strong>
        </a>
      </li>
    </ul>
  );
}

interface TotalProps extends Pick<TotalsProps, 'unread'> {
  readonly title: string;
  readonly address: string;
  readonly count: number;
  readonly of?: number;
  readonly tone?: string;
}

function Total({ title, address, count, of, tone, unread }: TotalProps): JSX.Element {
  return (
    <li>
      <a class="total" href={address}>
        <span>{title}</span>{' '}
        <strong class={tone !== undefined && count > 0 ? `tone ${tone}` : ''}>
          {countText(count)}
          {of !== undefined && <small>/{countText(of)}</small>}
          <UnreadMark unread={unread} />
        </strong>
      </a>
    </li>
  );
}

/** Its address would be that of another page. */
function focusAttention(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('#attention')?.focus();
}
