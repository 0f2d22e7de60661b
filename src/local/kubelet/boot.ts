/** Which boot of which machine this is. A sandbox has both of its own: its agent boots it by ending all of its processes. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { textAt } from '../../kube/objects/json.ts';

export interface BootIdentity {
  readonly bootId: string;
  readonly machineId: string;
}

/** Every process of a sandbox has this variable: `<directory>//<unit>`. */
const UNIT_VARIABLE = 'KUBENODE_SANDBOX_UNIT';

export async function readBootIdentity(
  env: Readonly<Record<string, string | undefined>>,
): Promise<BootIdentity> {
  const directory = env[UNIT_VARIABLE]?.split('//')[0];
  if (directory !== undefined) return await readSandbox(directory);
  const [bootId, machineId] = await Promise.all(
    ['/proc/sys/kernel/random/boot_id', '/etc/machine-id'].map((path) => readFile(path, 'utf8')),
  );
  return { bootId: bootId?.trim() ?? '', machineId: machineId?.trim() ?? '' };
}

async function readSandbox(directory: string): Promise<BootIdentity> {
  const boot: unknown = JSON.parse(await readFile(join(directory, '.sandbox', 'boot.json'), 'utf8'));
  return {
    bootId: textAt(boot, 'bootId') ?? '',
    machineId: createHash('sha256').update(directory).digest('hex').slice(0, 32),
  };
}
