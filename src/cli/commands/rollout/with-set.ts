import { MACHINE_COMPONENT_SETS } from '../../../api/generated/resources.ts';
import type { MachineComponentSet } from '../../../api/generated/types.ts';
import type { ConnectionFlags } from '../../connection.ts';
import type { PersonWrite, WriteFlags } from '../../fleet/person-write.ts';
import { readNamed, withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';

export interface SetWrite extends PersonWrite {
  readonly set: MachineComponentSet;
}

/** Reads the set, and runs the work of a command that writes it. */
export async function withSet(
  io: Io,
  flags: ConnectionFlags & WriteFlags,
  name: string,
  work: (write: SetWrite) => Promise<void>,
): Promise<void> {
  await withCluster(io, flags, async (client) => {
    const resource = MACHINE_COMPONENT_SETS;
    const set = await readNamed<MachineComponentSet>(client, resource, name, io.signal);
    await work({ io, client, resource, object: set, set, dryRun: flags.dryRun ?? false });
  });
}
