/** Reads which MachineComponents a fleet has: what its repository renders to, or what is in a cluster. */
import { resolve } from 'node:path';
import { MACHINE_COMPONENTS } from '../../../api/generated/resources.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { createRenderer } from '../../../sync/render/renderer.ts';
import { type ConnectionFlags, connectFrom } from '../../connection.ts';
import { collect } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { printWarnings } from '../../output.ts';
import type { MirroredSpec } from './plan.ts';

export interface MirrorSourceFlags extends ConnectionFlags {
  readonly from: 'repository' | 'cluster';
  readonly repo: string;
  readonly path: string;
}

export async function readMirroredSpecs(io: Io, flags: MirrorSourceFlags): Promise<readonly MirroredSpec[]> {
  return flags.from === 'cluster' ? await readFromCluster(io, flags) : await readFromRepository(io, flags);
}

async function readFromRepository(
  io: Io,
  { repo, path }: MirrorSourceFlags,
): Promise<readonly MirroredSpec[]> {
  const folder = resolve(io.cwd, repo);
  const { targets, warnings } = await createRenderer().folder({ folder, path, signal: io.signal });
  printWarnings(io, warnings);
  return targets.flatMap(({ units }) =>
    units.flatMap(({ objects }) => objects.flatMap(({ object }) => specOf(object))),
  );
}

async function readFromCluster(io: Io, flags: ConnectionFlags): Promise<readonly MirroredSpec[]> {
  const client = await connectFrom(io, flags);
  try {
    return await collect(client, MACHINE_COMPONENTS, { signal: io.signal }, ({ spec }) => spec);
  } finally {
    await client.close();
  }
}

/** The API server validates what is rendered; the judge of sync has the same schema. */
function specOf(object: KubeObject): readonly MirroredSpec[] {
  return object.kind === MACHINE_COMPONENTS.kind ? [object['spec'] as MirroredSpec] : [];
}
