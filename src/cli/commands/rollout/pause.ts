/** `kubenode rollout pause` and `resume`: `spec.paused`, which a person sets where git does not. */
import { Command } from 'commander';
import type { MachineComponentSet } from '../../../api/generated/types.ts';
import { rolloutOutcome } from '../../../views/rollout/outcome.ts';
import { unblockOf } from '../../../views/rollout/unblock.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import {
  applyAsPerson,
  DRY_RUN,
  patchAsPerson,
  refuseIfGitSets,
  reportWrite,
  type WriteFlags,
} from '../../fleet/person-write.ts';
import type { Io } from '../../io.ts';
import { type SetWrite, withSet } from './with-set.ts';

const PAUSED = ['spec', 'paused'] as const;

const PAUSE_HELP = `
No further machine begins; those in work finish their step, and the clock of a soak stands still. Where git sets spec.paused this
prints what to commit, and changes nothing. To stop every rollout of the cluster: kubenode defender stop --scope Rollout`;

export function createRolloutPauseCommand(io: Io): Command {
  const command = new Command('pause')
    .description('begin no further machine until it is resumed')
    .argument('<set>', 'name of the MachineComponentSet')
    .option(...DRY_RUN)
    .addHelpText('after', PAUSE_HELP);
  return addConnectionOptions(command).action((name: string, flags: ConnectionFlags & WriteFlags) =>
    withSet(io, flags, name, pause),
  );
}

async function pause(write: SetWrite): Promise<void> {
  const { set } = write;
  const { name } = set.metadata;
  if (set.spec.paused) {
    reportWrite(write, `${name} is paused already. Resume it with: kubenode rollout resume ${name}`);
    return;
  }
  await pauseSet(write);
  reportWrite(
    write,
    `${name} is paused: no further machine begins. Resume it with: kubenode rollout resume ${name}`,
  );
}

export async function pauseSet(write: SetWrite): Promise<void> {
  refuseIfGitSets(write, PAUSED, { spec: { paused: true } });
  await applyAsPerson(write, { paused: true });
}

const RESUME_HELP = `
It goes on where it was: a soak keeps the time that it had. Where git sets spec.paused this prints what to commit, and changes
nothing.`;

export function createRolloutResumeCommand(io: Io): Command {
  const command = new Command('resume')
    .description('continue a rollout that was paused')
    .argument('<set>', 'name of the MachineComponentSet')
    .option(...DRY_RUN)
    .addHelpText('after', RESUME_HELP);
  return addConnectionOptions(command).action((name: string, flags: ConnectionFlags & WriteFlags) =>
    withSet(io, flags, name, resume),
  );
}

async function resume(write: SetWrite): Promise<void> {
  const { set } = write;
  const { name } = set.metadata;
  if (!set.spec.paused) return reportWrite(write, notPausedText(set));
  refuseIfGitSets(write, PAUSED, { spec: { paused: false } });
  await patchAsPerson(write, { spec: { paused: null } });
  reportWrite(write, `${name} goes on. Follow it with: kubenode rollout watch ${name}`);
}

/** Pure. Throws what to do instead where the rollout needs something else, with the exit code of `rollout watch`. */
export function notPausedText(set: MachineComponentSet): string {
  const { name } = set.metadata;
  const { state, because } = rolloutOutcome(set);
  if (state !== 'Failed' && state !== 'NeedsPerson') return `${name} is not paused: nothing to do`;
  const [what, exitCode] =
    state === 'Failed' ? (['has stopped', EXIT.failed] as const) : (['waits', EXIT.held] as const);
  throw new CliError(`${name} is not paused, it ${what}: ${because}`, { hint: unblockOf(set), exitCode });
}
