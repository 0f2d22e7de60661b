import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { attentionItems, countWaits } from '../state/attention.ts';
import type { PageName } from '../state/pages/address.ts';
import type { Shown } from '../state/shown.ts';
import { type UnreadPart, unreadParts } from '../state/unread.ts';
import { FleetPage } from './fleet/fleet-page.tsx';
import { focusFirstTile, focusTile } from './fleet/tiles.tsx';
import { HealthPage } from './health/health.tsx';
import { LimitsPage } from './limits/limits.tsx';
import { MachineDrawer } from './machine/drawer.tsx';
import { Palette } from './palette/palette.tsx';
import { useFleetState } from './parts/fleet-state.ts';
import { type Navigation, useNavigation } from './parts/route.tsx';
import { useNow } from './parts/time.ts';
import { ReleasesPage } from './releases/releases.tsx';
import { RepairsPage } from './repairs/repairs.tsx';
import { RolloutsPage } from './rollouts/rollouts.tsx';
import { Attention } from './shell/attention.tsx';
import { Banners } from './shell/banners.tsx';
import { Header } from './shell/header.tsx';
import { Nav } from './shell/nav.tsx';
import { Totals } from './shell/totals.tsx';
import { NotRead } from './shell/unread.tsx';

export function App(): JSX.Element {
  const navigation = useNavigation();
  const { route, closeMachine } = navigation;
  const { shown, isConnected, announced } = useFleetState(route.filters.by ?? 'zone');
  const now = useNow();
  const [isSearching, search] = useState(false);
  useSearchKeys(() => search(true));
  useReturnedFocus(route.machine);
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the fleet
      </a>
      <div class="shell">
        <Header {...{ isConnected, now }} hasState={shown !== undefined} search={() => search(true)} />
        <Nav page={route.page} />
        {shown ? (
          <Content {...{ shown, now, navigation }} />
        ) : (
          <main id="main" aria-busy="true">
            <Skeleton />
          </main>
        )}
      </div>
      {shown && route.machine !== undefined && (
        <MachineDrawer
          key={route.machine}
          shown={shown}
          machine={route.machine}
          now={now}
          close={closeMachine}
        />
      )}
      {shown && isSearching && <Palette shown={shown} close={() => search(false)} />}
      <p class="hidden" role="status" aria-live="polite">
        {announced}
      </p>
    </>
  );
}

interface ContentProps {
  readonly shown: Shown;
  readonly now: number;
  readonly navigation: Navigation;
}

interface PageProps extends ContentProps {
  readonly unread: readonly UnreadPart[];
}

function Content({ shown, now, navigation }: ContentProps): JSX.Element {
  const { state, groups } = shown;
  const items = attentionItems(state);
  const unread = unreadParts(state);
  return (
    <main id="main" tabIndex={-1}>
      <div class="top">
        <Banners fleetPolicies={state.fleetPolicies} notes={state.notes} now={now} />
        <NotRead unread={unread} />
        <Totals groups={groups} repairs={state.repairs} waits={countWaits(state)} unread={unread} />
      </div>
      <Attention
        items={items}
        unread={unread}
        notes={state.notes}
        rollouts={state.rollouts}
        repairs={state.repairs}
        now={now}
      />
      {PAGE_CONTENTS[navigation.route.page]({ shown, now, navigation, unread })}
    </main>
  );
}

const PAGE_CONTENTS: Readonly<Record<PageName, (props: PageProps) => JSX.Element>> = {
  fleet: (props) => <FleetPage {...props} />,
  releases: ({ shown, now, unread }) => <ReleasesPage state={shown.state} now={now} unread={unread} />,
  rollouts: ({ shown, now, navigation, unread }) => (
    <RolloutsPage
      rollouts={shown.state.rollouts}
      now={now}
      only={navigation.route.filters.cluster}
      unread={unread}
    />
  ),
  repairs: ({ shown, now, navigation, unread }) => (
    <RepairsPage
      repairs={shown.state.repairs}
      now={now}
      only={navigation.route.filters.cluster}
      unread={unread}
    />
  ),
  limits: ({ shown: { state }, now, unread }) => (
    <LimitsPage
      limits={state.limits}
      grants={state.grants}
      fleetPolicies={state.fleetPolicies}
      now={now}
      unread={unread}
    />
  ),
  health: ({ shown, navigation, unread }) => (
    <HealthPage shown={shown} unread={unread} range={navigation.route.filters.range} />
  ),
};

function Skeleton(): JSX.Element {
  return (
    <div class="skeleton" aria-hidden="true">
      <div class="bone row" />
      <div class="bone" />
      <div class="bone" />
    </div>
  );
}

/** Its address would be that of another page. */
function skip(event: Event): void {
  event.preventDefault();
  if (!focusFirstTile()) document.querySelector<HTMLElement>('main')?.focus();
}

/** ⌘K, Ctrl+K and / open the search, except while a person types. From the first paint on: a person who sees the page may press a key at once. */
function useSearchKeys(open: () => void): void {
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key, metaKey, ctrlKey, target } = event;
      const isTyping = target instanceof HTMLElement && target.closest('input, select, textarea') !== null;
      if (key !== '/' && !(key === 'k' && (metaKey || ctrlKey))) return;
      if (isTyping) return;
      event.preventDefault();
      open();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []); // oxlint-disable-line react-hooks/exhaustive-deps -- to open does the same each time
}

/** When the drawer closes, the focus returns to the tile of the machine, or to what opened it. */
function useReturnedFocus(machine: string | undefined): void {
  const last = useRef<{ readonly machine: string; readonly opener: Element | null }>(undefined);
  if (machine !== undefined && last.current === undefined) {
    last.current = { machine, opener: document.activeElement };
  }
  useLayoutEffect(() => {
    if (machine !== undefined) {
      if (last.current) last.current = { ...last.current, machine };
      return;
    }
    const { current } = last;
    last.current = undefined;
    if (!current || focusTile(current.machine)) return;
    if (current.opener instanceof HTMLElement) current.opener.focus();
  }, [machine]);
}
