/** The main process of a unit, from systemd and /proc. */
import { open } from 'node:fs/promises';
import { optional } from '../../../kube/objects/optional.ts';
import { readProcessIdentity } from '../../../os/process/identity.ts';
import type { UnitDefinition, UnitProcess } from '../port.ts';
import { createProgramDigests } from '../program-digest.ts';
import { suspensionOf } from '../suspension.ts';
import type { UnitProperties } from './unit-properties.ts';

export type UnitProcessReader = (
  unit: UnitDefinition,
  found: UnitProperties,
) => Promise<UnitProcess | undefined>;

export function createUnitProcessReader(): UnitProcessReader {
  const readDigest = createProgramDigests();
  return async ({ exec }, { active, mainPid, startedAt = '' }) => {
    if (active !== 'Active' || mainPid === undefined) return undefined;
    const identity = await readProcessIdentity(mainPid);
    if (!identity) return undefined;
    const { pid, startTicks: startId } = identity;
    // Of a script, /proc names only the interpreter: what it runs is unknown.
    const isKnown = !(exec && (await isScript(exec.argv[0] ?? '')));
    const programDigest = isKnown ? await readDigest(pid, startId) : undefined;
    const suspended = await suspensionOf(pid);
    return {
      pid,
      startId,
      startedAt,
      ...optional('programDigest', programDigest),
      ...suspended,
    };
  };
}

async function isScript(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch(() => undefined);
  if (!file) return false;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return buffer.toString('latin1', 0, bytesRead) === '#!';
  } catch {
    return false;
  } finally {
    await file.close();
  }
}
