/** Chooses the machines whose reports tell whether the network near a machine is cut, and judges by them. Pure. */
import type { Sign } from './evidence.ts';

export interface PeerPlace {
  readonly name: string;
  readonly zone?: string | undefined;
  readonly rack?: string | undefined;
}

export interface Peers<P> {
  /** In the same rack, where racks are labeled; otherwise in the same zone. */
  readonly near: readonly P[];
  /** Everywhere else. */
  readonly far: readonly P[];
}

/** A majority of three outvotes one peer that is broken itself. */
const PEERS = 3;
const MAJORITY = 2;

/** Chooses the same peers each time, whatever the order of the machines is, and other ones for other machines: no machine is read by all. */
export function choosePeers<P extends PeerPlace>(subject: PeerPlace, all: Iterable<P>): Peers<P> {
  const near: RankedPeer<P>[] = [];
  const far: RankedPeer<P>[] = [];
  for (const peer of all) {
    if (peer.name === subject.name) continue;
    keepFirst(isNear(subject, peer) ? near : far, { peer, rank: rankOf(subject.name, peer.name) });
  }
  return { near: near.map(({ peer }) => peer), far: far.map(({ peer }) => peer) };
}

/**
 * Returns Silent when most near peers are silent: the rack, the zone or our own view is cut. Too few peers prove nothing: far peers tell
 * whether anything reaches the API server, but not whether a rack of two silent machines is cut.
 */
export function judgePeers<P>({ near, far }: Peers<P>, signOf: (peer: P) => Sign): Sign {
  const signs = near.map(signOf);
  const nearby = majorityOf(signs);
  if (nearby !== 'Unknown') return nearby;
  const onlySilent = signs.includes('Silent') && !signs.includes('Alive');
  return onlySilent ? 'Unknown' : majorityOf(far.map(signOf));
}

function majorityOf(signs: readonly Sign[]): Sign {
  const count = (sign: Sign): number => signs.filter((each) => each === sign).length;
  if (count('Silent') >= MAJORITY) return 'Silent';
  return count('Alive') >= MAJORITY ? 'Alive' : 'Unknown';
}

function isNear(a: PeerPlace, b: PeerPlace): boolean {
  if (a.rack !== undefined) return a.rack === b.rack && a.zone === b.zone;
  return a.zone === b.zone;
}

interface RankedPeer<P> {
  readonly peer: P;
  readonly rank: number;
}

/** Keeps the lowest ranks, so that a large fleet costs no list. */
function keepFirst<P extends PeerPlace>(kept: RankedPeer<P>[], added: RankedPeer<P>): void {
  const last = kept.at(-1);
  if (kept.length >= PEERS && last && compare(added, last) >= 0) return;
  kept.push(added);
  kept.sort(compare);
  kept.splice(PEERS);
}

function compare<P extends PeerPlace>(a: RankedPeer<P>, b: RankedPeer<P>): number {
  return a.rank - b.rank || (a.peer.name < b.peer.name ? -1 : 1);
}

/** FNV-1a, 32 bits: ten thousand names take about a millisecond. */
function rankOf(subject: string, peer: string): number {
  let hash = 0x811c9dc5;
  const text = `${subject}\n${peer}`;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
