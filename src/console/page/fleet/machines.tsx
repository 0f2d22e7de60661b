/** All machines as one picture, in groups by zone, pool or version, with the number of machines of each phase beside its sign. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type ClusterGroupView, type FleetGroups, GROUPINGS } from '../../state/fleet.ts';
import { type PageFilters, pageAddress, SHOWN_MACHINES } from '../../state/pages/address.ts';
import { phaseTotals } from '../../state/pages/totals.ts';
import { machineSign } from '../../state/signs.ts';
import { absenceText, type UnreadPart, unreadOf } from '../../state/unread.ts';
import { Choice } from '../parts/choice.tsx';
import { countText } from '../parts/parts.tsx';
import { enterTabOrder, keepOneInTabOrder, moveWithKeys, type TilesProps, Zone } from './tiles.tsx';

interface MachinesProps extends TilesProps {
  readonly groups: FleetGroups;
  readonly unread: readonly UnreadPart[];
  readonly filters: PageFilters;
}

/** The most machines with large tiles, and with small tiles that have room for a sign. */
const MAX_LARGE = 150;
const MAX_SMALL = 1500;

export function Machines({ groups, unread, filters, ...tiles }: MachinesProps): JSX.Element {
  const picture = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => keepOneInTabOrder(picture.current));
  const clusters = groups.stages
    .flatMap((stage) => stage.clusters)
    .filter(({ line }) => filters.cluster === undefined || line.name === filters.cluster);
  const count = clusters.reduce((sum, { machines }) => sum + machines, 0);
  const size = sizeOf(count);
  return (
    <div class="machines">
      <div class="toolbar">
        <h3>Machines</h3>
        <Legend clusters={clusters} />
        <Switches filters={filters} />
      </div>
      <div
        ref={picture}
        class={`picture ${size} ${filters.show ?? ''}`}
        onKeyDown={moveWithKeys}
        onFocusIn={enterTabOrder}
      >
        {clusters
          .filter(({ machines }) => machines > 0)
          .map((group) => (
            <Cluster
              key={group.line.name}
              group={group}
              isNamed={clusters.length > 1}
              by={groups.by}
              share={(group.machines / count) * (ROW_SHARE[size] ?? ROW_SHARE_OF_MANY)}
              {...tiles}
            />
          ))}
      </div>
      {count === 0 && <p class="soft">{absenceText('No machines', unreadOf(unread, filters.cluster))}</p>}
    </div>
  );
}

function sizeOf(count: number): string {
  if (count <= MAX_LARGE) return 'large';
  return count <= MAX_SMALL ? 'small' : 'dense';
}

interface ClusterProps extends TilesProps {
  readonly group: ClusterGroupView;
  readonly isNamed: boolean;
  readonly by: FleetGroups['by'];
  /** The part of a row that the cluster takes. */
  readonly share: number;
}

/**
 * The share of a row that a cluster asks for, as a multiple of its share of the machines: the clusters of a small fleet fit into one row, those
 * of a large one into two, so that their pictures are about as high as each other. What is left of a row is shared, too.
 */
const ROW_SHARE: Readonly<Record<string, number>> = { large: 0.75 };
const ROW_SHARE_OF_MANY = 1.9;
const MIN_WIDTH = '11rem';

function Cluster({ group, isNamed, by, share, ...tiles }: ClusterProps): JSX.Element {
  const { line, machines, zones } = group;
  const percent = Math.min(100, 100 * share);
  return (
    <div
      class="machines-of"
      style={{ flexGrow: machines, flexBasis: `max(${MIN_WIDTH}, calc(${percent}% - 1rem))` }}
    >
      {isNamed && <h4>{line.name}</h4>}
      <div class="zones">
        {zones.map((zone) => (
          <Zone key={zone.zone} zone={zone} by={by} {...tiles} />
        ))}
      </div>
    </div>
  );
}

/** The signs that the picture contains, with their numbers. */
function Legend({ clusters }: { readonly clusters: readonly ClusterGroupView[] }): JSX.Element {
  const totals = phaseTotals(clusters.flatMap(({ zones }) => zones));
  return (
    <ul class="legend" aria-label="Machines by phase">
      {totals.map(([phase, count]) => {
        const { sign, tone } = machineSign({ p: phase });
        return (
          <li key={phase}>
            <span class={`mark ${tone}`} aria-hidden="true">
              {sign}
            </span>{' '}
            {phase} {countText(count)}
          </li>
        );
      })}
    </ul>
  );
}

function Switches({ filters }: Pick<MachinesProps, 'filters'>): JSX.Element {
  const { by = 'zone', show, cluster, ...others } = filters;
  const without = { ...others, ...(cluster !== undefined && { cluster }) };
  return (
    <>
      <ul class="switch" aria-label="Group by">
        {GROUPINGS.map((each) => (
          <Choice
            key={each}
            text={each}
            isChosen={each === by}
            address={pageAddress('fleet', { ...without, ...(show && { show }), by: each })}
          />
        ))}
      </ul>
      <ul class="switch" aria-label="Show">
        {([undefined, ...SHOWN_MACHINES] as const).map((each) => (
          <Choice
            key={each ?? 'all'}
            text={each ?? 'all'}
            isChosen={each === show}
            address={pageAddress('fleet', { ...without, by, ...(each && { show: each }) })}
          />
        ))}
      </ul>
      {cluster !== undefined && (
        <a class="chip" href={pageAddress('fleet', { by, ...(show && { show }) })}>
          {cluster} × <span class="hidden">Show all clusters</span>
        </a>
      )}
    </>
  );
}
