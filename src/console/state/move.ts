/** Decides where an arrow key leads among tiles in rows. Pure; runs in the page. */

/** The position of a tile on the screen. */
export interface TileBox {
  readonly top: number;
  readonly left: number;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

export interface TileMove {
  readonly key: string;
  /** The index of the tile that has the focus. */
  readonly from: number;
  /** The number of tiles. */
  readonly count: number;
}

/**
 * Returns the index of the next tile; undefined: the key does not move. Zones and clusters are beside each other: only the places count.
 * `readBoxes` is called only for a key that needs them: for 10,000 tiles the browser has to compute the layout of all.
 */
export function moveFocus(
  { key, from, count }: TileMove,
  readBoxes: () => readonly TileBox[],
): number | undefined {
  const last = count - 1;
  if (last < 0) return undefined;
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  const step = STEPS[key];
  if (step !== undefined) return Math.min(last, Math.max(0, from + step));
  if (key === 'ArrowDown') return nearestTile(from, readBoxes(), 1);
  return key === 'ArrowUp' ? nearestTile(from, readBoxes(), -1) : undefined;
}

/** A tile straight above or below is closer than one beside it in a nearer row. */
const SIDE_WEIGHT = 2;

/** Returns the index of the nearest tile below (`direction` 1) or above (-1). Without a tile there, returns `from`. */
function nearestTile(from: number, boxes: readonly TileBox[], direction: 1 | -1): number {
  const start = boxes[from] ?? { top: 0, left: 0 };
  const distances = boxes.map(({ top, left }, index) => ({
    index,
    down: (top - start.top) * direction,
    side: Math.abs(left - start.left),
  }));
  const [first, ...others] = distances.filter(({ down }) => down > 0);
  if (!first) return from;
  const far = ({ down, side }: typeof first): number => down + SIDE_WEIGHT * side;
  return others.reduce((best, each) => (far(each) < far(best) ? each : best), first).index;
}
