/** The file of the slots on the host. */
import { optional } from '../../kube/objects/optional.ts';
import type { HostFiles } from '../host/port.ts';
import { SLOTS_FILE } from '../layout.ts';
import { readStateFile, writeStateFile } from '../state-file.ts';
import type { AgentSlots, AgentUpgrade, UpgradeVerdict } from './slots.ts';

export async function readSlots(files: Pick<HostFiles, 'read'>): Promise<AgentSlots> {
  return (await readStateFile<AgentSlots>(files, SLOTS_FILE)) ?? {};
}

type WritableFiles = Pick<HostFiles, 'read' | 'write'>;

/** Does nothing for an attempt that began before, whether it has ended or not. */
export async function beginUpgrade(files: WritableFiles, upgrade: AgentUpgrade): Promise<void> {
  const { upgrade: underWay, last } = await readSlots(files);
  if (underWay?.key === upgrade.key || last?.key === upgrade.key) return;
  await writeStateFile(files, SLOTS_FILE, { upgrade, ...optional('last', last) });
}

export async function recordUpgrade(files: WritableFiles, upgrade: AgentUpgrade): Promise<void> {
  const { last } = await readSlots(files);
  await writeStateFile(files, SLOTS_FILE, { upgrade, ...optional('last', last) });
}

export async function endUpgrade(files: Pick<HostFiles, 'write'>, last: UpgradeVerdict): Promise<void> {
  await writeStateFile(files, SLOTS_FILE, { last });
}
