/** Reads whether machines near a silent one still report: by their Leases, so that nothing is written or sent for it. */
import type { Sign } from '../../api/diagnosis/evidence.ts';
import { choosePeers, judgePeers, type PeerPlace, type Peers } from '../../api/diagnosis/peers.ts';
import { peerPlace } from '../../api/diagnosis/place.ts';
import type { Machine } from '../../api/generated/types.ts';
import { SILENT_MS } from '../../api/machine/heartbeat.ts';
import type { FactViews } from '../views.ts';

export interface PeerSigns {
  /** `ageMs` is how long ago the agent or the kubelet of a machine last showed that it is alive. Infinity: never. */
  read(subject: string, ageMs: (machine: string) => number, nowMs: number): Sign;
}

/** Peers are chosen from the whole fleet, so they are kept for a while. */
const KEEP_MS = 300_000;

interface ChosenPeers {
  readonly peers: Peers<PeerPlace>;
  readonly atMs: number;
}

export function createPeerSigns({ machines, nodes }: Pick<FactViews, 'machines' | 'nodes'>): PeerSigns {
  const chosen = new Map<string, ChosenPeers>();
  return {
    read: (subject, ageMs, nowMs) => judgePeers(peersOf(subject, nowMs), ({ name }) => signOf(ageMs(name))),
  };

  function peersOf(subject: string, nowMs: number): Peers<PeerPlace> {
    const before = chosen.get(subject);
    if (before && nowMs - before.atMs < KEEP_MS) return before.peers;
    const peers = choosePeers(placeOfName(subject), machines.store.list().map(placeOf));
    chosen.set(subject, { peers, atMs: nowMs });
    forgetOld(nowMs);
    return peers;
  }

  /** Forgets the choices that are too old to be used: machines that were deleted take no memory. */
  function forgetOld(nowMs: number): void {
    for (const [name, { atMs }] of chosen) if (nowMs - atMs >= KEEP_MS) chosen.delete(name);
  }

  function placeOfName(name: string): PeerPlace {
    const machine = machines.store.get(name);
    return machine ? placeOf(machine) : { name };
  }

  function placeOf(machine: Machine): PeerPlace {
    return peerPlace(machine, nodes.store.get(machine.metadata.name));
  }
}

/** A kubelet renews its Lease as often as an agent. */
function signOf(ageMs: number): Sign {
  if (!Number.isFinite(ageMs)) return 'Unknown';
  return ageMs <= SILENT_MS ? 'Alive' : 'Silent';
}
