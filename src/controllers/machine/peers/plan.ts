/**
 * Chooses the peers whose agents probe a machine that is silent, and lists what the agent of one machine is asked to probe. Nothing is probed
 * while no machine is silent. Pure.
 */
import { choosePeers } from '../../../api/diagnosis/peers.ts';
import { peerPlace } from '../../../api/diagnosis/place.ts';
import type { Machine, MachineSilence, PeerProbeRequest } from '../../../api/generated/types.ts';
import { SILENT_MS } from '../../../api/machine/heartbeat.ts';
import { conditionStatus } from '../../../kube/objects/conditions.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { Heartbeat } from '../observe.ts';

/** Address at which a kubelet is probed. */
export interface ProbeTarget {
  readonly address: string;
  readonly port: number;
}

export interface SilenceInput {
  readonly machine: Machine;
  readonly node: KubeObject | undefined;
  /** Returns where its kubelet is probed; undefined: no address of the machine is known. */
  readonly target: () => ProbeTarget | undefined;
  readonly heartbeat: Heartbeat | undefined;
  /** Returns a Machine, and its Node, by name. */
  readonly find: (name: string) => Machine | undefined;
  readonly nodeOf: (name: string) => KubeObject | undefined;
  /** Lists the whole fleet: it is called when peers are chosen. */
  readonly fleet: () => readonly Machine[];
  readonly now: Date;
}

/** Three near the machine, and three elsewhere. */
const PEERS = 6;
/** An answer counts for so long: until then the former peers may be enough. */
const AGAIN_MS = 300_000;
/**
 * The number of machines that one agent probes, twice a minute each. Each machine has six peers by hash, so few agents have as many requests
 * before a tenth of the fleet is silent; what does not fit is not probed by this peer.
 */
const MAX_REQUESTS = 8;

/** Returns undefined for a machine that is not silent, or has no address that is known. */
export function planSilence(input: SilenceInput): MachineSilence | undefined {
  const target = isSilent(input) ? input.target() : undefined;
  return target && silenceAt(target, input);
}

/** Returns when the peers of a silent machine are checked again: they fall silent, return and are added without a change of its own. */
export function peersAgainAt(input: SilenceInput): Date | undefined {
  const isProbed = isSilent(input) && input.target() !== undefined;
  return isProbed ? new Date(input.now.getTime() + AGAIN_MS) : undefined;
}

function silenceAt(target: ProbeTarget, input: SilenceInput): MachineSilence | undefined {
  const before = sameTarget(input.machine.status?.silence, target);
  if (before && hasAllPeers(before, input)) return before;
  const peers = peersFor(input);
  if (peers.length === 0) return undefined;
  return { ...target, since: before?.since ?? input.now.toISOString(), peers };
}

/**
 * Tells whether the silence is reported. A process that has just started knows of no silence yet: then it is as it was. One that is not reported
 * yet, because many agents are silent at once, is more likely ours.
 */
function isSilent({ machine, heartbeat }: SilenceInput): boolean {
  if (!heartbeat || machine.metadata.deletionTimestamp !== undefined) return false;
  if (heartbeat.ageMs > SILENT_MS) return heartbeat.unreportedMs <= 0;
  return !heartbeat.hasChanged && machine.status?.silence !== undefined;
}

/** Returns the silence as it was reported, while the machine is probed at the same address: answers to it still count. */
function sameTarget(
  before: MachineSilence | undefined,
  { address, port }: ProbeTarget,
): MachineSilence | undefined {
  return before?.address === address && before.port === port ? before : undefined;
}

/** Tells whether no peer needs to be chosen: a small fleet has too few, and chooses again when machines are added. */
function hasAllPeers({ peers }: MachineSilence, { find }: SilenceInput): boolean {
  return peers.length === PEERS && peers.every((name) => canProbe(find(name)));
}

function peersFor({ machine, node, nodeOf, fleet }: SilenceInput): readonly string[] {
  const places = fleet()
    .filter(canProbe)
    .map((each) => peerPlace(each, nodeOf(each.metadata.name)));
  const { near, far } = choosePeers(peerPlace(machine, node), places);
  return [...near, ...far].map(({ name }) => name).toSorted(byCode);
}

/** Tells whether a machine is a witness: its agent reports, and it was in service, so that its network works. */
function canProbe(machine: Machine | undefined): boolean {
  if (!machine || machine.metadata.deletionTimestamp !== undefined) return false;
  const { conditions, node } = machine.status ?? {};
  return node?.establishedAt !== undefined && conditionStatus(conditions, 'AgentReady') === 'True';
}

/** Lists the requests to the agent of one machine. `silent` are the machines that name it as a peer. */
export function planProbeRequests(silent: readonly Machine[]): readonly PeerProbeRequest[] | undefined {
  const requests = silent
    .flatMap(({ metadata: { name }, status }): readonly PeerProbeRequest[] => {
      if (!status?.silence) return [];
      const { address, port, since } = status.silence;
      return [{ machine: name, address, port, since }];
    })
    .toSorted((a, b) => byCode(a.since, b.since) || byCode(a.machine, b.machine));
  return requests.length > 0 ? requests.slice(0, MAX_REQUESTS) : undefined;
}
