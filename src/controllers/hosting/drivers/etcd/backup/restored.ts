/** Marks data of an etcd with the backup that they began with. The mark is among the data, so that it is there with them or not at all. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileExists, PRIVATE_MODE, readFileIfExists } from '../../../../../os/files.ts';
import { HostingError } from '../../../errors.ts';

const MEMBER = 'member';
const MARK = join(MEMBER, 'kubenode-restored');

/** Returns the backup that the data began with. */
export async function readRestored(dataFolder: string): Promise<string | undefined> {
  return (await readFileIfExists(join(dataFolder, MARK)))?.trim();
}

export async function markRestored(dataFolder: string, name: string): Promise<void> {
  await writeFile(join(dataFolder, MARK), `${name}\n`, { mode: PRIVATE_MODE });
}

/** Resolves to whether the data of that backup are in their place. Rejects where etcd has other data, which no backup replaces. */
export async function isRestored(dataFolder: string, name: string): Promise<boolean> {
  if (!(await fileExists(join(dataFolder, MEMBER)))) return false;
  const from = await readRestored(dataFolder);
  if (from === name) return true;
  const whose = from === undefined ? 'etcd has data already' : `etcd has the data of backup ${from} already`;
  throw new HostingError('DataNotOurs', `${whose}: ${name} does not replace them`, {
    where: dataFolder,
    hint: 'look at what is in the volume of etcd; nothing was changed in it',
  });
}
