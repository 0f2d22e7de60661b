/** The machines of one group as tiles. One tile is in the tab order: arrow keys move between them, Enter shows the machine. */
import { Component, type JSX, type TargetedKeyboardEvent } from 'preact';
import type { TileGrouping } from '../../state/fleet.ts';
import { moveFocus, type TileBox } from '../../state/move.ts';
import { cordonerOf, machineSign } from '../../state/signs.ts';
import type { PlacedTile, TileBlock, ZoneGroup } from '../../state/tile-blocks.ts';

export interface TilesProps {
  readonly repaired: ReadonlySet<string>;
  readonly selected: string | undefined;
  readonly select: (key: string) => void;
}

interface ZoneProps extends TilesProps {
  readonly zone: ZoneGroup;
  readonly by: TileGrouping;
}

const KINDS: Readonly<Record<TileGrouping, string>> = { zone: 'Zone', pool: 'Pool', version: 'Version' };

/** Not drawn again while its machines and what is marked among them stay the same. */
export class Zone extends Component<ZoneProps> {
  override shouldComponentUpdate({ zone, repaired, selected }: ZoneProps): boolean {
    const { props } = this;
    return zone !== props.zone || repaired !== props.repaired || selected !== props.selected;
  }

  override render({ zone: { zone, counts, blocks }, by, ...tiles }: ZoneProps): JSX.Element {
    const text = `${zone}: ${counts.map(([phase, count]) => `${count} ${phase}`).join(', ')}`;
    return (
      <div class="zone" role="group" aria-label={`${KINDS[by]} ${text}`}>
        <p class="soft" title={text}>
          {text}
        </p>
        <div class="blocks">
          {blocks.map((block, index) => (
            <Block key={index} block={block} {...tiles} />
          ))}
        </div>
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

interface TileProps extends Pick<TilesProps, 'select'> {
  readonly placed: PlacedTile;
  readonly isRepaired: boolean;
  readonly isSelected: boolean;
}

/** Draws a tile again only when it changed: there may be 10,000. */
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

/** Returns false if the machine has no tile on this page. */
export function focusTile(key: string): boolean {
  const tile = document.querySelector<HTMLElement>(`.tile[data-machine="${CSS.escape(key)}"]`);
  tile?.focus();
  return tile !== null;
}

/** Returns false if this page has no tiles. */
export function focusFirstTile(): boolean {
  const tile = document.querySelector<HTMLElement>('.tile[tabindex="0"]');
  tile?.focus();
  return tile !== null;
}

export function moveWithKeys(event: TargetedKeyboardEvent<HTMLDivElement>): void {
  const { target, currentTarget, key } = event;
  const tiles = [...currentTarget.querySelectorAll<HTMLElement>(shownTiles(currentTarget))];
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
export function enterTabOrder({
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

/** At first, and when the machine of the tile was deleted or is not shown. */
export function keepOneInTabOrder(picture: HTMLElement | null): void {
  if (!picture) return;
  const shown = shownTiles(picture);
  if (picture.querySelector(`${shown}[tabindex="0"]`)) return;
  for (const tile of picture.querySelectorAll<HTMLElement>('.tile[tabindex="0"]')) tile.tabIndex = -1;
  const first = picture.querySelector<HTMLElement>(shown);
  if (first) first.tabIndex = 0;
}

/** The styles hide the other tiles. */
function shownTiles({ classList }: HTMLElement): string {
  if (classList.contains('changing')) return '.tile.busy';
  return classList.contains('trouble') ? '.tile.bad' : '.tile';
}
