/**
 * The processes of an instance. Its agent has the folder of the instance in its environment, and so does everything that the agent
 * starts: whatever was killed in between, nothing is started twice and nothing stays.
 */
import type { Clock } from '../../os/clock.ts';
import { stopProcess } from '../../os/process/child.ts';
import { readEnvironment } from '../../os/process/environment.ts';
import { type ProcessIdentity, readProcessIdentity } from '../../os/process/identity.ts';
import { listPids } from '../../os/process/table.ts';
import { ProviderError } from '../contract.ts';

const VARIABLE = 'KUBENODE_LOCAL_INSTANCE';

export function markedEnvironment(mark: string): Readonly<Record<string, string>> {
  return { [VARIABLE]: mark };
}

export async function findMarked(mark: string): Promise<readonly ProcessIdentity[]> {
  const pids = (await listPids()).filter((pid) => pid !== process.pid);
  const found = await Promise.all(pids.map((pid) => identityIfMarked(pid, mark)));
  return found.filter((identity) => identity !== undefined);
}

async function identityIfMarked(pid: number, mark: string): Promise<ProcessIdentity | undefined> {
  const isMarked = (await readEnvironment(pid)).includes(`${VARIABLE}=${mark}`);
  return isMarked ? await readProcessIdentity(pid) : undefined;
}

/** Each round ends what the round before started while it was being ended. */
const ROUNDS = 20;

/** As a power cut: nothing gets the time to react. */
export async function endMarked(mark: string, clock: Clock): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = await findMarked(mark);
    if (found.length === 0) return;
    await Promise.all(found.map((identity) => stopProcess(identity, clock, 0)));
  }
  throw new ProviderError('Retryable', `processes of ${mark} were started faster than they ended`);
}
