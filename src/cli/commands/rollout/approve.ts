/** `kubenode rollout approve`: `spec.rollout.approved`, for one revision and as many batches as are named. */
import { Command } from 'commander';
import type { MachineComponentSet, RolloutApproval } from '../../../api/generated/types.ts';
import { versionsText } from '../../../api/machine/versions-text.ts';
import type { Reason } from '../../../api/names.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { isSetObserved, rolloutOutcome } from '../../../views/rollout/outcome.ts';
import { unblockOf } from '../../../views/rollout/unblock.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import {
  applyAsPerson,
  DRY_RUN,
  refuseIfGitSets,
  reportWrite,
  type WriteFlags,
} from '../../fleet/person-write.ts';
import type { Io } from '../../io.ts';
import { createIntegerParser } from '../../option-parsers.ts';
import { withSet } from './with-set.ts';

const HELP = `
Approves the batch that waits, so that the next one begins. An approval holds for this revision only: a later version asks again.
Where git sets spec.rollout.approved this prints what to commit, and changes nothing.

Examples:
  kubenode rollout approve general-nodes
  kubenode rollout approve general-nodes --revision r-5d41402a --through-batch 3`;

interface ApproveFlags extends ConnectionFlags, WriteFlags {
  readonly revision?: string;
  readonly throughBatch?: number;
}

export function createRolloutApproveCommand(io: Io): Command {
  const command = new Command('approve')
    .description('let a rollout go on that waits for an approval')
    .argument('<set>', 'name of the MachineComponentSet')
    .option('--revision <name>', 'the revision that you reviewed: refused if it is another one now')
    .option(
      '--through-batch <n>',
      'approve this batch, counted from 1, and all before it (default: the batch that waits)',
      createIntegerParser(1, 10_000),
    )
    .option(...DRY_RUN)
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((name: string, flags: ApproveFlags) =>
    withSet(io, flags, name, async (write) => {
      const approved = planRolloutApproval(write.set, askedApproval(flags));
      refuseIfGitSets(write, ['spec', 'rollout', 'approved'], { spec: { rollout: { approved } } });
      await applyAsPerson(write, { rollout: { approved } });
      const { revision, throughBatch } = approved;
      reportWrite(
        write,
        `${name}: ${versionsText(write.set.spec.components)} (${revision}) is approved through batch ${throughBatch + 1}. Follow it with: kubenode rollout watch ${name}`,
      );
    }),
  );
}

/** People count batches from 1, objects from 0. */
export function askedApproval({ revision, throughBatch }: ApproveFlags): AskedApproval {
  return { ...optional('revision', revision), ...optional('throughBatch', throughBatch && throughBatch - 1) };
}

export interface AskedApproval {
  readonly revision?: string;
  /** From 0. */
  readonly throughBatch?: number;
}

/** Pure. Throws what to do instead where an approval would have no effect. */
export function planRolloutApproval(set: MachineComponentSet, asked: AskedApproval): RolloutApproval {
  const { name } = set.metadata;
  const { canary, gate } = set.spec.rollout;
  if (gate.approval === 'None' && !canary?.hold) {
    throw refusal(`${name} asks for no approval`, 'to ask for one, set spec.rollout.gate.approval');
  }
  const revision = currentRevision(set, asked.revision);
  const throughBatch = asked.throughBatch ?? waitingBatch(set);
  const { approved } = set.spec.rollout;
  if (approved?.revision === revision && approved.throughBatch >= throughBatch) {
    throw refusal(
      `${versionsText(set.spec.components)} is approved through batch ${approved.throughBatch + 1} already`,
      `see what it waits for: kubenode rollout show ${name}`,
    );
  }
  return { revision, throughBatch };
}

function currentRevision(set: MachineComponentSet, asked: string | undefined): string {
  const revision = isSetObserved(set) ? set.status?.updateRevision : undefined;
  const { name } = set.metadata;
  if (revision === undefined) {
    throw refusal(
      `${name} has no revision yet: ${rolloutOutcome(set).because}`,
      'wait until it is observed, then run this again',
    );
  }
  if (asked === undefined || asked === revision) return revision;
  throw refusal(
    `the revision of ${name} is ${revision}, not ${asked}`,
    `review it: kubenode rollout show ${name}`,
  );
}

function waitingBatch(set: MachineComponentSet): number {
  const { waiting, batch } = set.status ?? {};
  const isWaiting = waiting?.reason === ('ApprovalRequired' satisfies Reason);
  if (isWaiting && batch?.index !== undefined) return batch.index;
  const { state, because } = rolloutOutcome(set);
  const hint =
    state === 'Failed' ? unblockOf(set) : 'to approve in advance, name the batch: --through-batch N';
  throw refusal(`${set.metadata.name} does not wait for an approval: ${because}`, hint);
}

function refusal(what: string, hint: string): CliError {
  return new CliError(what, { hint, exitCode: EXIT.badInput });
}
