/** Reads what is assigned to one machine, and pinned on it. */
import { MACHINES } from '../../../api/generated/resources.ts';
import type { Client } from '../../../kube/client/client.ts';
import { ownValue } from '../../../kube/objects/json.ts';
import type { Io } from '../../io.ts';
import { readNodeOf } from '../machine-context.ts';
import { readNamed } from '../read.ts';
import { readSetsAndVersions } from '../rollout-facts.ts';
import type { AssignmentsInput } from './assignments.ts';
import type { PinsInput } from './pins.ts';

export interface MachineContent {
  readonly assignments: AssignmentsInput;
  readonly pins: PinsInput;
}

/** Reads the Machine again, and what assigns content to it: the view of the Defender has no owners of fields, by which pins are known. */
export async function readContent(
  { signal, clock }: Pick<Io, 'signal' | 'clock'>,
  client: Client,
  name: string,
): Promise<MachineContent> {
  const machine = await readNamed(client, MACHINES, name, signal);
  const [{ sets, find, findInstalled, classOf, compatOf, grants }, node] = await Promise.all([
    readSetsAndVersions(client, signal),
    readNodeOf(client, name, signal),
  ]);
  const shared = { machine, node, grant: ownValue(grants, name), now: clock.now() };
  return {
    assignments: { ...shared, sets, find, classOf, compatOf },
    pins: { ...shared, find: findInstalled },
  };
}
