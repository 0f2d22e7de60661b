/** The machines as tiles. One of them is in the tab order: arrow keys move between them, Enter shows the machine. */
import { Component, type JSX, type TargetedKeyboardEvent } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import {
  type ClusterGroupView,
  type FleetGroups,
  NO_STAGE,
  type PlacedTile,
  type TileBlock,
  type ZoneGroup,
} from '../state/fleet.ts';
import { clusterHealthView } from '../state/health.ts';
import { moveFocus, type TileBox } from '../state/move.ts';
import { cordonerOf, machineSign } from '../state/signs.ts';
import type { ConsoleState } from '../state/state.ts';
import { Badge, Section, Since } from './parts.tsx';

export interface FleetProps extends Pick<ConsoleState, 'repairs'> {
  readonly groups: FleetGroups;
  readonly now: number;
  readonly selected: string | undefined;
  readonly select: (key: string) => void;
}

export function Fleet({ groups: { stages }, repairs, now, selected, select }: FleetProps): JSX.Element {
  const repaired = useMemo(() => machinesInRepair(repairs), [repairs]);
  const fleet = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => keepOneInTabOrder(fleet.current));
  return (
    <Section id="fleet" title="Fleet">
      {stages.length === 0 && <p>No clusters yet.</p>}
      <div ref={fleet} onKeyDown={moveWithKeys} onFocusIn={enterTabOrder}>
        {stages.map(({ stage, clusters: own }) => (
          <div class="stage" key={stage}>
            <h3>{stage === NO_STAGE ? 'No stage yet' : `Stage ${stage}`}</h3>
            <div class="cards">
              {own.map((group) => (
                <Cluster key={group.line.name} {...{ group, now, repaired, selected, select }} />
              ))}
            </div>
          </div>
        ))}
      </div>
    </Section>
  );
}

/** Keys of machines with a repair that has not ended. */
function machinesInRepair(repairs: ConsoleState['repairs']): ReadonlySet<string> {
  const open = Object.values(repairs).filter(({ state }) => state === 'Running' || state === 'NeedsPerson');
  return new Set(open.map(({ cluster, machine }) => `${cluster}/${machine}`));
}

interface TilesProps extends Pick<FleetProps, 'selected' | 'select'> {
  readonly repaired: ReadonlySet<string>;
}

interface ClusterProps extends TilesProps {
  readonly group: ClusterGroupView;
  readonly now: number;
}

function Cluster({ group, now, ...tiles }: ClusterProps): JSX.Element {
  const { line, zones } = group;
  const { health, machines } = clusterHealthView(group);
  return (
    <article class="card" aria-label={`Cluster ${line.name}`}>
      <div class="title">
        <h4>{line.name}</h4>
        <span class="soft">commit</span>
        <code>{line.commit}</code>
        <Badge state={line.state} />
        <Since since={line.since} now={now} />
        <span class="soft">health</span>
        <Badge state={health} />
        {machines !== undefined && (
          <span class="soft">
            {machines.ready} of {machines.total} machines Ready
          </span>
        )}
      </div>
      {line.because !== '' && <p>{line.because}</p>}
      {line.stale !== undefined && <p class="badge bad">! {line.stale}</p>}
      {zones.map((zone) => (
        <Zone key={zone.zone} zone={zone} {...tiles} />
      ))}
    </article>
  );
}

interface ZoneProps extends TilesProps {
  readonly zone: ZoneGroup;
}

/** Not drawn again while its machines and what is marked among them stay the same. */
class Zone extends Component<ZoneProps> {
  override shouldComponentUpdate({ zone, repaired, selected }: ZoneProps): boolean {
    const { props } = this;
    return zone !== props.zone || repaired !== props.repaired || selected !== props.selected;
  }

  override render({ zone: { zone, counts, blocks }, ...tiles }: ZoneProps): JSX.Element {
    const text = `${zone}: ${counts.map(([phase, count]) => `${count} ${phase}`).join(', ')}`;
    return (
      <div class="zone" role="group" aria-label={`Zone ${text}`}>
        <p class="soft">{text}</p>
        {blocks.map((block, index) => (
          <Block key={index} block={block} {...tiles} />
        ))}
      </div>
    );
  }
}

interface BlockProps extends TilesProps {
  readonly block: TileBlock;
}

/** Drawn again only if one of its machines changed; one that is not on the screen has no layout. */
class Block extends Component<BlockProps> {
  override shouldComponentUpdate({ block, repaired, selected }: BlockProps): boolean {
    const { props } = this;
    if (block !== props.block) return true;
    if (repaired === props.repaired && selected === props.selected) return false;
    return block.some(
      ({ key }) =>
        repaired.has(key) !== props.repaired.has(key) || (key === selected) !== (key === props.selected),
    );
  }

  override render({ block, repaired, selected, select }: BlockProps): JSX.Element {
    return (
      <div class="tiles">
        {block.map((placed) => (
          <Tile
            key={placed.key}
            placed={placed}
            isRepaired={repaired.has(placed.key)}
            isSelected={selected === placed.key}
            select={select}
          />
        ))}
      </div>
    );
  }
}

interface TileProps extends Pick<FleetProps, 'select'> {
  readonly placed: PlacedTile;
  readonly isRepaired: boolean;
  readonly isSelected: boolean;
}

/** Of 10,000, only those that changed are drawn again. */
class Tile extends Component<TileProps> {
  override shouldComponentUpdate({ placed, isRepaired, isSelected }: TileProps): boolean {
    const { props } = this;
    return (
      placed.tile !== props.placed.tile || isRepaired !== props.isRepaired || isSelected !== props.isSelected
    );
  }

  override render({ placed, isRepaired, isSelected, select }: TileProps): JSX.Element {
    const { key, name, tile } = placed;
    const cordoner = cordonerOf(tile);
    const { sign, tone } = machineSign(tile, isRepaired);
    const marks = [isRepaired && 'in repair', cordoner && `cordoned by ${cordoner}`, tile.why?.reason];
    const label = [name, tile.p, ...marks].filter(Boolean).join(', ');
    return (
      <button
        type="button"
        class={`tile ${tone}`}
        tabIndex={-1}
        data-machine={key}
        aria-label={label}
        aria-pressed={isSelected}
        title={label}
        onClick={() => select(key)}
      >
        {sign}
      </button>
    );
  }
}

function moveWithKeys(event: TargetedKeyboardEvent<HTMLDivElement>): void {
  const { target, currentTarget, key } = event;
  const tiles = [...currentTarget.querySelectorAll<HTMLElement>('.tile')];
  const from = tiles.indexOf(target as HTMLElement);
  if (from < 0) return;
  const next = moveFocus({ key, from, count: tiles.length }, () => tiles.map(boxOf));
  if (next === undefined) return;
  event.preventDefault();
  tiles[next]?.focus();
}

function boxOf(tile: HTMLElement): TileBox {
  const { top, left } = tile.getBoundingClientRect();
  return { top, left };
}

/** The tile that has the focus is the one that Tab comes back to. */
function enterTabOrder({
  target,
  currentTarget,
}: {
  target: EventTarget | null;
  currentTarget: HTMLElement;
}): void {
  if (!(target instanceof HTMLElement) || !target.classList.contains('tile')) return;
  for (const tile of currentTarget.querySelectorAll<HTMLElement>('.tile[tabindex="0"]')) tile.tabIndex = -1;
  target.tabIndex = 0;
}

/** At first, and when the machine of the tile was deleted. */
function keepOneInTabOrder(fleet: HTMLElement | null): void {
  if (fleet?.querySelector('.tile[tabindex="0"]')) return;
  const first = fleet?.querySelector<HTMLElement>('.tile');
  if (first) first.tabIndex = 0;
}

export function focusTile(key: string): void {
  document.querySelector<HTMLElement>(`.tile[data-machine="${CSS.escape(key)}"]`)?.focus();
}
