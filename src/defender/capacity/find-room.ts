/** Finds the first node that takes a Pod, or explains why none does. Pure. */
import { firstObjection, mayTake, type PlaceRequest, type Room, takesNow } from './node-checks.ts';

/** Remembers for Pods with equal needs which nodes never take them: of a thousand replicas only the first one reads each node. */
export interface RoomSearch {
  /** Those of the rooms before `next` that may take such a Pod. */
  kept: readonly Room[];
  next: number;
}

export function findRoom(
  rooms: readonly Room[],
  search: RoomSearch,
  request: PlaceRequest,
): Room | undefined {
  search.kept = search.kept.filter((room) => mayTake(room, request));
  const known = search.kept.find((room) => takesNow(room, request));
  if (known) return known;
  const kept = [...search.kept];
  search.kept = kept;
  while (search.next < rooms.length) {
    const room = rooms[search.next];
    search.next += 1;
    if (!room || !mayTake(room, request)) continue;
    kept.push(room);
    if (takesNow(room, request)) return room;
  }
  return undefined;
}

const MAX_CAUSES = 3;

/** Reads every node, which only a Pod without a place is worth. */
export function explainNoRoom(rooms: readonly Room[], request: PlaceRequest): string {
  const found = new Map<string, { readonly depth: number; nodes: number }>();
  for (const room of rooms) {
    const objection = firstObjection(room, request);
    if (!objection) continue;
    const known = found.get(objection.because);
    if (known) known.nodes += 1;
    else found.set(objection.because, { depth: objection.depth, nodes: 1 });
  }
  if (found.size === 0) return 'there is no other node';
  return [...found]
    .toSorted(([a, x], [b, y]) => y.depth - x.depth || y.nodes - x.nodes || (a < b ? -1 : 1))
    .slice(0, MAX_CAUSES)
    .map(([because, { nodes }]) => `${because} on ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`)
    .join(', ');
}
