/** Machines of the demo whose processes stand still: for everyone else they have lost their power. */
import { signalProcess } from '../../os/process/child.ts';
import { findMarked } from '../../providers/local/processes.ts';

/** Until a round finds nothing new: an agent may start a process while the others are being stopped. */
export async function suspendMachine(mark: string): Promise<void> {
  const stopped = new Set<number>();
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each round looks for what the one before missed
    const found = (await findMarked(mark)).filter(({ pid }) => !stopped.has(pid));
    if (found.length === 0) return;
    // oxlint-disable-next-line no-await-in-loop -- as above
    await Promise.all(found.map((identity) => signalProcess(identity, 'SIGSTOP')));
    for (const { pid } of found) stopped.add(pid);
  }
}

export async function resumeMachine(mark: string): Promise<void> {
  const found = await findMarked(mark);
  await Promise.all(found.map((identity) => signalProcess(identity, 'SIGCONT')));
}
