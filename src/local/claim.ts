/**
 * Records which `kubenode start` stops the fleet at its end. The claim is written under the lock of the fleet before the first process
 * starts, so that a `kubenode start` after a killed one takes the fleet over, and of two at once one is refused. A fleet of `kubenode local
 * up` has no claim.
 */
import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { PRIVATE_MODE, readFileIfExists, writeFileAtomic } from '../os/files.ts';
import { isRunning, readProcessIdentity } from '../os/process/identity.ts';
import { LocalError } from './errors.ts';
import type { Layout } from './layout.ts';

const claimFile = z.object({ pid: z.int(), startTicks: z.string(), bootId: z.string() });
type Claimant = z.infer<typeof claimFile>;

export interface ClaimSituation {
  readonly claimant: 'None' | 'Ended' | 'Running';
  readonly hasProcesses: boolean;
}

/** Decides about the claim. `Leave` means that the fleet was started by a command that has ended, and keeps running when this one ends. */
export function decideClaim({ claimant, hasProcesses }: ClaimSituation): 'Claim' | 'Leave' | 'Refuse' {
  if (claimant === 'Running') return 'Refuse';
  return claimant === 'None' && hasProcesses ? 'Leave' : 'Claim';
}

/**
 * Claims the fleet for this process, or leaves it as it is; fails when another `kubenode start` runs it. It must be called under the lock.
 */
export async function claimFleet(layout: Layout, hasProcesses: boolean): Promise<void> {
  const known = await readClaim(layout);
  const decision = decideClaim({ claimant: known ? stateOf(known) : 'None', hasProcesses });
  if (decision === 'Leave') return;
  if (decision === 'Refuse') {
    throw new LocalError('InUse', 'kubenode start runs this fleet already', {
      where: `${layout.root}: pid ${known?.pid}`,
      hint: `use it, or ${await endHint(layout)}; another fleet needs another folder: --dir`,
    });
  }
  const own = await readProcessIdentity(process.pid);
  if (!own) throw new Error(`expected /proc to have this process, ${process.pid}`);
  const { pid, startTicks, bootId } = own;
  await writeFileAtomic(layout.claimFile, `${JSON.stringify({ pid, startTicks, bootId })}\n`, PRIVATE_MODE);
}

export async function isClaimedHere(layout: Layout): Promise<boolean> {
  const known = await readClaim(layout);
  return known?.pid === process.pid && stateOf(known) === 'Running';
}

/** Returns how to end the `kubenode start` that runs the fleet: it may have no terminal, for example when only npm was killed. */
export async function endHint(layout: Pick<Layout, 'claimFile'>): Promise<string> {
  const known = await readClaim(layout);
  const isKnown = known !== undefined && stateOf(known) === 'Running';
  return `end it with Ctrl-C in its terminal${isKnown ? `, or with: kill ${known.pid}` : ''}`;
}

/**
 * Releases the claim of a command that has ended. `local up` calls it under the lock: a person who starts the fleet after a killed `start`
 * wants it to keep running.
 */
export async function releaseEndedClaim(layout: Layout): Promise<void> {
  const known = await readClaim(layout);
  if (known && stateOf(known) === 'Ended') await releaseClaim(layout);
}

/** Releases the claim of a fleet that was stopped. */
export async function releaseClaim({ claimFile: path }: Layout): Promise<void> {
  await rm(path, { force: true });
}

function stateOf(claimant: Claimant): 'Ended' | 'Running' {
  return isRunning(claimant) ? 'Running' : 'Ended';
}

/** Reads the claim. A file that cannot be parsed names no process and counts as the claim of a command that has ended. */
async function readClaim({ claimFile: path }: Pick<Layout, 'claimFile'>): Promise<Claimant | undefined> {
  const text = await readFileIfExists(path);
  if (text === undefined) return undefined;
  const found = claimFile.safeParse(parse(text));
  return found.success ? found.data : { pid: 0, startTicks: '', bootId: '' };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
