/** Reads where a machine is, for the choice of its peers. Pure. */
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Machine } from '../generated/types.ts';
import { machinePlace, RACK } from './dimensions.ts';
import type { PeerPlace } from './peers.ts';

export function peerPlace(machine: Machine, node: KubeObject | undefined): PeerPlace {
  const { zone, labels } = machinePlace(machine, node);
  return { name: machine.metadata.name, zone, rack: labels[RACK] };
}
