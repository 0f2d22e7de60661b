/** The state of the fleet in the page, as the server sends it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { announceChange } from '../../state/announce.ts';
import { findTile, type TileGrouping } from '../../state/fleet.ts';
import { type Shown, showChange, showGroupedBy, showState } from '../../state/shown.ts';
import type { ConsoleState, MachineTile } from '../../state/state.ts';
import { followState } from './stream.ts';

export interface ShownFleet {
  /** Undefined: nothing was received yet. */
  readonly shown?: Shown;
  readonly isConnected: boolean;
  /** For screen readers: the last change. */
  readonly announced: string;
}

export function useFleetState(by: TileGrouping): ShownFleet {
  const [fleet, setFleet] = useState<Omit<ShownFleet, 'isConnected'>>({ announced: '' });
  const [isConnected, setConnected] = useState(false);
  const grouping = useRef(by);
  useEffect(() => {
    grouping.current = by;
    setFleet((before) => (before.shown ? { ...before, shown: showGroupedBy(before.shown, by) } : before));
  }, [by]);
  useEffect(() => {
    followState({
      onState: (state) =>
        setFleet({ shown: showState(state, grouping.current), announced: summaryOf(state) }),
      onChange: (change) =>
        setFleet(({ shown, announced }) => {
          if (!shown) return { announced };
          const machine = (key: string): MachineTile | undefined => findTile(shown.groups, key);
          return {
            shown: showChange(shown, change),
            announced: announceChange({ ...shown.state, machine }, change) || announced,
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
