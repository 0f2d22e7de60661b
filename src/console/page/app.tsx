import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { announceChange } from '../state/announce.ts';
import { findTile } from '../state/fleet.ts';
import { type Shown, showChange, showState } from '../state/shown.ts';
import type { ConsoleState, MachineTile } from '../state/state.ts';
import { Attention } from './attention.tsx';
import { Fleet, focusTile } from './fleet.tsx';
import { History } from './history.tsx';
import { Limits } from './limits.tsx';
import { MachineDetail } from './machine-detail.tsx';
import { FleetStops, Notes, Pipelines } from './overview.tsx';
import { Repairs } from './repairs.tsx';
import { Rollouts } from './rollouts.tsx';
import { SignedIn } from './signed-in.tsx';
import { followState } from './stream.ts';

/** Ages are shown in seconds only while they are short. */
const AGE_MS = 5000;

export function App(): JSX.Element {
  const { shown, isConnected, said } = useFleetState();
  const now = useNow();
  const [selected, select] = useState<string>();
  const close = (): void => {
    select(undefined);
    if (selected !== undefined) focusTile(selected);
  };
  return (
    <>
      <a class="skip" href="#fleet">
        Skip to the fleet
      </a>
      <header>
        <h1>kubenode</h1>
        <Connection isConnected={isConnected} hasState={shown !== undefined} />
        <SignedIn isConnected={isConnected} />
      </header>
      <main aria-busy={shown === undefined}>
        {shown && <Sections shown={shown} now={now} selected={selected} select={select} />}
      </main>
      {shown && selected !== undefined && (
        <MachineDetail key={selected} shown={shown} machine={selected} now={now} close={close} />
      )}
      <p class="hidden" role="status" aria-live="polite">
        {said}
      </p>
    </>
  );
}

interface SectionsProps {
  readonly shown: Shown;
  readonly now: number;
  readonly selected: string | undefined;
  readonly select: (key: string) => void;
}

function Sections({ shown: { state, groups }, now, selected, select }: SectionsProps): JSX.Element {
  return (
    <>
      <FleetStops fleetPolicies={state.fleetPolicies} now={now} />
      <Notes notes={state.notes} />
      <Attention rollouts={state.rollouts} repairs={state.repairs} now={now} />
      <Pipelines pipelines={state.pipelines} now={now} />
      <Fleet groups={groups} repairs={state.repairs} now={now} selected={selected} select={select} />
      <History history={state.history} />
      <Rollouts rollouts={state.rollouts} now={now} />
      <Repairs repairs={state.repairs} now={now} />
      <Limits limits={state.limits} grants={state.grants} fleetPolicies={state.fleetPolicies} now={now} />
    </>
  );
}

function Connection(props: { readonly isConnected: boolean; readonly hasState: boolean }): JSX.Element {
  if (props.isConnected) return <span class="badge good">✓ live</span>;
  const text = props.hasState
    ? '! connection lost: the last state is shown, connecting again'
    : '… connecting';
  return (
    <span class="badge bad" role="alert">
      {text}
    </span>
  );
}

interface FleetState {
  /** Undefined: nothing was received yet. */
  readonly shown?: Shown;
  readonly isConnected: boolean;
  /** For screen readers: the last change. */
  readonly said: string;
}

function useFleetState(): FleetState {
  const [fleet, setFleet] = useState<Omit<FleetState, 'isConnected'>>({ said: '' });
  const [isConnected, setConnected] = useState(false);
  useEffect(() => {
    followState({
      onState: (state) => setFleet({ shown: showState(state), said: summaryOf(state) }),
      onChange: (change) =>
        setFleet(({ shown, said }) => {
          if (!shown) return { said };
          const machine = (key: string): MachineTile | undefined => findTile(shown.groups, key);
          return {
            shown: showChange(shown, change),
            said: announceChange({ ...shown.state, machine }, change) || said,
          };
        }),
      onConnection: setConnected,
    });
  }, []);
  return { ...fleet, isConnected };
}

function summaryOf({ clusters, machines }: ConsoleState): string {
  return `${Object.keys(machines).length} machines in ${Object.keys(clusters).length} clusters`;
}

/** In milliseconds, for the ages. */
function useNow(): number {
  const [now, setNow] = useState(readTime);
  useEffect(() => {
    const timer = setInterval(() => setNow(readTime()), AGE_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function readTime(): number {
  return performance.timeOrigin + performance.now();
}
