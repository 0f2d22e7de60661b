/** The fleet: the stages from left to right with the commit of each cluster, and below them every machine. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { machinesInRepair } from '../../state/open-repairs.ts';
import type { Shown } from '../../state/shown.ts';
import { noClustersText, type UnreadPart } from '../../state/unread.ts';
import { Empty, Section } from '../parts/parts.tsx';
import type { Navigation } from '../parts/route.tsx';
import { Lanes } from './lanes.tsx';
import { Machines } from './machines.tsx';

export interface FleetPageProps {
  readonly shown: Shown;
  readonly now: number;
  readonly navigation: Navigation;
  readonly unread: readonly UnreadPart[];
}

export function FleetPage({ shown, now, navigation, unread }: FleetPageProps): JSX.Element {
  const { state, groups } = shown;
  const { route, openMachine } = navigation;
  const repaired = useMemo(() => machinesInRepair(state.repairs), [state.repairs]);
  return (
    <Section id="fleet" title="Fleet">
      {groups.stages.length === 0 ? (
        <Empty text={noClustersText(unread)} command="kubenode cluster connect" />
      ) : (
        <Lanes
          stages={groups.stages}
          pipelines={state.pipelines}
          commits={state.commits}
          now={now}
          only={route.filters.cluster}
        />
      )}
      <Machines
        groups={groups}
        unread={unread}
        repaired={repaired}
        filters={route.filters}
        selected={route.machine}
        select={openMachine}
      />
    </Section>
  );
}
