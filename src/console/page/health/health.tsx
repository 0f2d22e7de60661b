/** The health of the clusters, whatever commit they run, and the past of the fleet. */
import type { JSX } from 'preact';
import type { ClusterGroupView } from '../../state/fleet.ts';
import { clusterHealthView } from '../../state/health.ts';
import type { HistoryRange } from '../../state/history/ranges.ts';
import { pageAddress } from '../../state/pages/address.ts';
import { phaseTotals } from '../../state/pages/totals.ts';
import type { Shown } from '../../state/shown.ts';
import { noClustersText, type UnreadPart } from '../../state/unread.ts';
import { Badge, countText, Empty, Page } from '../parts/parts.tsx';
import { History } from './history.tsx';

interface HealthProps {
  readonly shown: Shown;
  readonly unread: readonly UnreadPart[];
  readonly range: HistoryRange | undefined;
}

export function HealthPage({ shown: { state, groups }, unread, range }: HealthProps): JSX.Element {
  const clusters = groups.stages.flatMap((stage) => stage.clusters);
  return (
    <Page id="health" title="Health">
      <History history={state.history} pipelines={state.pipelines} range={range} />
      {clusters.length === 0 ? (
        <Empty text={noClustersText(unread)} />
      ) : (
        <div class="scroll" role="region" aria-label="Health of the clusters" tabIndex={0}>
          <table class="matrix">
            <thead>
              <tr>
                <th scope="col">Cluster</th>
                <th scope="col">Health</th>
                <th scope="col">Ready</th>
                <th scope="col">Machines by phase</th>
              </tr>
            </thead>
            <tbody>
              {clusters.map((group) => (
                <Cluster key={group.line.name} group={group} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Page>
  );
}

function Cluster({ group }: { readonly group: ClusterGroupView }): JSX.Element {
  const { name, stale } = group.line;
  const { health, machines } = clusterHealthView(group);
  const phases = phaseTotals(group.zones);
  return (
    <tr>
      <th scope="row">
        <a href={pageAddress('fleet', { cluster: name })}>{name}</a>
      </th>
      <td>
        <Badge state={health} />
        {stale !== undefined && <p class="badge bad">! {stale}</p>}
      </td>
      <td>{machines ? `${countText(machines.ready)}/${countText(machines.total)}` : '–'}</td>
      <td>{phases.map(([phase, count]) => `${countText(count)} ${phase}`).join(', ')}</td>
    </tr>
  );
}
